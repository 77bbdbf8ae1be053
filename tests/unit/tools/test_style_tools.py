import pytest
from tool_desk import categories, found, places

UNTIDY = '''import os


class shop:
    """A shop."""

    def openDoor(self):
        breakpoint()
'''


def test_ruff_finds_names_missing_documentation_and_leftovers() -> None:
    assert places(found("ruff-style", UNTIDY)) == [
        (1, "unused-import"),
        (4, "naming"),
        (7, "missing-docs"),
        (7, "naming"),
        (8, "leftover-debugging"),
    ]


def test_tidy_code_and_unchanged_lines_are_silent() -> None:
    tidy = '"""A shop."""\n\n\ndef open_door(door):\n    """Open the door."""\n    door.open()\n'

    assert found("ruff-style", tidy) == []
    assert found("ruff-style", UNTIDY, "shop.py", (2, 2)) == []


def test_a_test_needs_no_docstring_and_a_package_may_import_for_others() -> None:
    assert found("ruff-style", "def test_it():\n    pass\n", "tests/test_shop.py") == []
    assert found("ruff-style", "from shop.door import open_door\n", "shop/__init__.py") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "function get_user(id) {}"),
        ("a.ts", "const get_user = async (id) => {};"),
        ("a.ts", "class shopDoor {"),
        ("A.java", "public String get_user(int id) {"),
        ("a.go", "func Get_user(id int) {}"),
        ("a.rb", "def getUser(id)"),
        ("a.rs", "fn getUser(id: u32) {}"),
        ("a.kt", "fun get_user(id: Int) {}"),
    ],
)
def test_names_against_the_convention_of_their_language_are_found(path: str, text: str) -> None:
    assert categories("naming", text, path) == ["naming"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "function getUser(id) {}\nconst MAX_SIZE = 3;\nconst row = data.user_id;"),
        ("a.js", '// function get_user(id) {}\nconst text = "class door {";'),
        ("A.java", "public void test_it() {"),
        ("a.go", "func TestGet_user(t *testing.T) {}"),
        ("a.rb", "def get_user(id)"),
        ("a.rs", "fn get_user(id: u32) {}"),
        ("a.py", "def getUser(): ..."),
    ],
)
def test_conventional_names_are_silent(path: str, text: str) -> None:
    assert found("naming", text, path) == []


def test_leftovers_undocumented_functions_and_long_files_are_found() -> None:
    assert categories("organisation", "f();\ndebugger;\n", "a.js") == ["leftover-debugging"]
    assert categories("organisation", "func Open() {}\n", "a.go") == ["missing-docs"]
    assert categories("organisation", "x = 1\n" * 1001, "a.py") == ["long-file"]


def test_what_is_in_order_is_silent() -> None:
    assert found("organisation", 'log("debugger");\n', "a.js") == []
    assert found("organisation", "// Open opens.\nfunc Open() {}\nfunc shut() {}\n", "a.go") == []
    assert found("organisation", "x = 1\n" * 1001, "a.py", (5, 9)) == []

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from common import teams
from common.errors import TeamError
from tests.unit import samples


def write(folder: Path, **changes: Any) -> Path:
    """Write a good team into a folder, with these fields of its file changed."""
    fields: dict[str, Any] = {
        "description": "A sample.",
        "final_instruction": "Write one report.",
        "plan": {"by": "files"},
        "specialists": {"security": samples.specialist(prompt="prompts/security.md")},
    }
    prompts = folder / "prompts"
    prompts.mkdir(parents=True, exist_ok=True)
    (prompts / "security.md").write_text("You look for holes.\n")
    (folder / "team.yaml").write_text(yaml.safe_dump(fields | changes))
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(TeamError) as refused:
        teams.load(folder)
    said = str(refused.value)
    assert "\n" not in said
    assert str(folder) in said
    return said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "sample")


def test_a_team_is_named_like_its_folder_and_holds_the_text_of_its_prompts(folder: Path) -> None:
    team = teams.load(folder)

    assert team.name == "sample"
    assert team.specialists["security"].prompt == "You look for holes."


@pytest.mark.parametrize(
    "text",
    [
        "description: [",
        "a: b: c",
        "\t- x",
        "description: &a [*b]",
        "description: !!python/object/apply:os.system [ls]",
        # YAML takes this for a date, and Python then refuses the month.
        "description: 2024-13-01",
        "[" * 5000,
    ],
    ids=["bracket", "colons", "tab", "alias", "object", "date", "deep"],
)
def test_what_is_no_yaml_is_refused(folder: Path, text: str) -> None:
    (folder / "team.yaml").write_text(text)

    assert "team.yaml: is not YAML" in refusal(folder)


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n- b\n", "just text"])
def test_an_empty_file_is_refused(folder: Path, text: str) -> None:
    (folder / "team.yaml").write_text(text)

    assert "team.yaml: is empty or no mapping; start with `description:`" in refusal(folder)


def test_an_unknown_field_is_named(folder: Path) -> None:
    write(folder, specalists={})

    assert "team.yaml: specalists: is no known field; remove it or correct" in refusal(folder)


def test_an_unknown_field_of_a_specialist_is_named_with_its_place(folder: Path) -> None:
    one = samples.specialist(prompt="prompts/security.md", tool=["ruff"])
    write(folder, specialists={"security": one})

    assert "specialists.security.tool: is no known field" in refusal(folder)


def test_a_missing_field_is_named(folder: Path) -> None:
    write(folder, final_instruction=None)

    assert "team.yaml: final_instruction: " in refusal(folder)


def test_every_wrong_field_is_named_at_once(folder: Path) -> None:
    write(folder, limits={"tries": 9}, description="", plan={"by": "magic"})

    said = refusal(folder)

    assert all(f"{field}: " in said for field in ("limits.tries", "description", "plan"))


@pytest.mark.parametrize("specialists", [None, [], "security", {}, {"security": "x"}, {1: {}}])
def test_specialists_of_the_wrong_shape_are_refused(folder: Path, specialists: object) -> None:
    write(folder, specialists=specialists)

    assert "team.yaml: specialists" in refusal(folder)


@pytest.mark.parametrize(
    "prompt", ["prompts/absent.md", "prompts", "../elsewhere.md", "/etc/hosts"]
)
def test_a_prompt_that_is_no_file_of_the_folder_is_refused(folder: Path, prompt: str) -> None:
    (folder.parent / "elsewhere.md").write_text("A secret.")
    write(folder, specialists={"security": samples.specialist(prompt=prompt)})

    said = refusal(folder)

    assert f"specialists.security.prompt: no file {prompt!r}" in said
    assert "create it or correct the name" in said


def test_a_prompt_that_links_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder.parent / "elsewhere.md").write_text("A secret.")
    (folder / "prompts" / "link.md").symlink_to(folder.parent / "elsewhere.md")
    write(folder, specialists={"security": samples.specialist(prompt="prompts/link.md")})

    assert "specialists.security.prompt: no file 'prompts/link.md'" in refusal(folder)


def test_an_empty_prompt_is_refused(folder: Path) -> None:
    (folder / "prompts" / "security.md").write_text(" \n")

    assert "specialists.security.prompt: " in refusal(folder)


@pytest.mark.parametrize("name", ["other", "", 7])
def test_a_name_that_differs_from_the_folder_is_refused(folder: Path, name: object) -> None:
    write(folder, name=name)

    assert f"name: is {name!r}; name it like its folder" in refusal(folder)


def test_a_graph_step_with_an_unknown_specialist_is_refused(folder: Path) -> None:
    write(folder, plan={"by": "graph", "steps": [{"id": "one", "specialist": "secruity"}]})

    assert "names specialist 'secruity'; the team has: security" in refusal(folder)


@pytest.mark.parametrize("name", ["team.yaml", "prompts/security.md"])
def test_a_file_that_is_not_utf_8_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"description: \xff\xfe")

    assert f"{name}: is not UTF-8; save it as UTF-8" in refusal(folder)


@pytest.mark.parametrize("name", ["team.yaml", "prompts/security.md"])
def test_a_file_that_is_too_large_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("#" * (teams.MAX_BYTES + 1))

    assert f"{name}: is over 256 KiB; shorten it" in refusal(folder)


def test_a_folder_without_a_team_is_refused(tmp_path: Path) -> None:
    assert "team.yaml: cannot be read: No such file" in refusal(tmp_path)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "shipped"
    write(root / "sample", description="The shipped one.")
    write(root / "other")
    monkeypatch.setattr(teams, "SHIPPED", root)
    return root


def test_an_unknown_team_is_refused_with_the_known_ones(shipped: Path) -> None:
    with pytest.raises(TeamError) as refused:
        teams.find("smaple")

    assert str(refused.value) == "no team 'smaple'; known are: other, sample"


@pytest.mark.parametrize("given", ["extra", "extra/sample"], ids=["of several", "of one"])
def test_a_folder_of_the_user_wins_over_a_shipped_one(
    shipped: Path, tmp_path: Path, given: str
) -> None:
    write(tmp_path / "extra" / "sample", description="My own.")

    found = {name: teams.find(name, (tmp_path / given,)) for name in ("sample", "other")}

    assert found["sample"].description == "My own."
    assert found["other"].description == "A sample."


def test_a_folder_that_is_not_there_is_refused_with_its_setting(
    shipped: Path, tmp_path: Path
) -> None:
    with pytest.raises(TeamError, match=r"CHARGEHAND_TEAMS names .*/absent, which is not a folder"):
        teams.find("sample", (tmp_path / "absent",))


def test_what_lies_beside_the_teams_is_no_team(shipped: Path) -> None:
    (shipped / "README.md").write_text("Teams.")
    (shipped / "empty").mkdir()

    assert set(teams.folders(())) == {"sample", "other"}


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ([("a", ["b"]), ("b", [])], "plan step 'a' depends on 'b', which is not above it"),
        ([("a", ["a"])], "plan step 'a' depends on 'a', which is not above it"),
        ([("a", []), ("a", [])], "two plan steps are named 'a'; rename one"),
    ],
)
def test_a_graph_that_could_never_run_is_refused(
    steps: list[tuple[str, list[str]]], fault: str
) -> None:
    nodes = [{"id": step, "specialist": "security", "depends_on": on} for step, on in steps]

    with pytest.raises(ValidationError, match=fault):
        samples.team(plan={"by": "graph", "steps": nodes})


@pytest.mark.parametrize("backups", [["security"], ["nobody"]])
def test_a_backup_that_is_itself_or_nobody_is_refused(backups: list[str]) -> None:
    security = samples.specialist() | {"backups": backups}

    with pytest.raises(ValidationError, match=r"specialists\.security\.backups"):
        samples.team(specialists={"security": security})

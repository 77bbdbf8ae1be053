import pytest
from tool_desk import categories, document, found, places, result

SECRET = "sk_live_Zx81kLmQ04aPdTy7"
UNSAFE = """import subprocess
import hashlib


def find(db, name):
    db.execute(f"SELECT * FROM users WHERE name = '{name}'")
    subprocess.run("ls " + name, shell=True)
    return hashlib.md5(name.encode()).hexdigest()


password = "SECRET"
""".replace("SECRET", SECRET)
SAFE = """import subprocess


def find(db, name, ids):
    marks = ", ".join("?" for _ in ids)
    db.execute("SELECT * FROM users WHERE name = ?", (name,))
    subprocess.run(["ls", name])
    return db.execute(f"SELECT * FROM users WHERE id IN ({marks})", ids)  # noqa: S608
"""


@pytest.mark.parametrize("tool", ["bandit", "ruff-security"])
def test_an_analyser_finds_injection_and_weak_hashes_under_shared_categories(tool: str) -> None:
    findings = found(tool, UNSAFE)

    assert places(findings)[:3] == [
        (6, "sql-injection"),
        (7, "command-injection"),
        (8, "weak-hash"),
    ]
    assert {f.severity for f in findings[:2]} == {"critical"}


@pytest.mark.parametrize("tool", ["bandit", "ruff-security", "patterns-security", "secrets"])
def test_safe_code_is_silent(tool: str) -> None:
    assert found(tool, SAFE) == []


@pytest.mark.parametrize("tool", ["bandit", "ruff-security", "patterns-security", "secrets"])
def test_unchanged_lines_are_silent(tool: str) -> None:
    assert found(tool, UNSAFE, "shop.py", (1, 2)) == []


@pytest.mark.parametrize("tool", ["bandit", "ruff-security", "secrets"])
def test_a_secret_is_found_and_never_appears_in_its_finding(tool: str) -> None:
    secrets = [f for f in found(tool, UNSAFE) if f.category == "hard-coded-secret"]

    assert [f.span.start for f in secrets] == [11]
    assert SECRET not in secrets[0].model_dump_json()


@pytest.mark.parametrize("tool", ["bandit", "ruff-security", "patterns-security"])
def test_sql_built_from_strings_is_found_on_a_changed_line(tool: str) -> None:
    assert places(found(tool, UNSAFE, "shop.py", (6, 6))) == [(6, "sql-injection")]


def test_secrets_are_found_in_files_of_any_language() -> None:
    key = "-----BEGIN RSA " + "PRIVATE KEY-----"
    findings = result(
        "secrets",
        document("deploy.yaml", f"db:\n  password: {SECRET}\n"),
        document("notes", f"{key}\nMIIEpAIBAAKCAQEA\n"),
    ).findings

    assert [(f.path, f.span.start) for f in findings] == [("deploy.yaml", 2), ("notes", 1)]


def test_a_placeholder_is_no_secret() -> None:
    assert found("secrets", 'password = "change-me-please"\nurl = "amqp://guest:guest@mq"\n') == []


def test_a_secret_in_a_test_is_less_certain() -> None:
    text = f'password = "{SECRET}"\n'

    in_code, in_test = found("secrets", text), found("secrets", text, "tests/test_shop.py")

    assert in_test[0].confidence < 50 < in_code[0].confidence


@pytest.mark.parametrize(
    "text",
    [
        'db.execute("SELECT * FROM t WHERE a = " + a)',
        'db.execute("SELECT * FROM t WHERE a = %s" % a)',
        'db.execute("SELECT * FROM t WHERE a = {}".format(a))',
        'query = f"DELETE FROM t WHERE a = {a}"\ndb.execute(query)',
        'db.execute(\n    "SELECT * FROM t "\n    f"WHERE a = {a}"\n)',
    ],
)
def test_every_way_to_build_sql_is_found(text: str) -> None:
    assert categories("patterns-security", text) == ["sql-injection"]


@pytest.mark.parametrize(
    "text",
    [
        'db.execute(f"SELECT * FROM t LIMIT {PAGE_SIZE}")',
        'db.execute(f"SELECT * FROM t LIMIT {int(limit)}")',
        'log.info(f"SELECT * FROM t WHERE a = {a}")',
        'db.execute("SELECT * FROM t WHERE a = ?", (a,))',
        'print(format(a, ".2f"))',
    ],
)
def test_sql_without_foreign_values_is_silent(text: str) -> None:
    assert found("patterns-security", text) == []


def test_a_table_name_in_sql_is_less_certain_than_a_value() -> None:
    table = found("patterns-security", 'db.execute(f"SELECT * FROM {table}")')
    value = found("patterns-security", 'db.execute(f"SELECT * FROM t WHERE a = {a}")')

    assert table[0].confidence < value[0].confidence


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("html = mark_safe('<b>' + name)", "cross-site-scripting"),
        ("render_template_string('<b>' + name)", "template-injection"),
        ("@app.get('/')\ndef f(name):\n    return f'<h1>{name}</h1>'", "cross-site-scripting"),
        ("open(request.args['file'])", "path-traversal"),
        ("redirect(request.args.get('next'))", "open-redirect"),
        ("requests.get(request.form['url'])", "request-forgery"),
        ("jwt.decode(t, key, options={'verify_signature': False})", "auth-bypass"),
        ("client(verify_ssl=False)", "tls-not-verified"),
        ("reset_token = random.randint(0, 9999)", "weak-randomness"),
    ],
)
def test_python_patterns_find(text: str, category: str) -> None:
    assert categories("patterns-security", text) == [category]


@pytest.mark.parametrize(
    "text",
    [
        "html = mark_safe('<b>hello</b>')",
        "html = mark_safe('<b>' + escape(name))",
        "@app.get('/')\ndef f(name):\n    return f'<h1>{escape(name)}</h1>'",
        "open(settings['file'])",
        "redirect(url_for('home'))",
        "jwt.decode(t, key, algorithms=['HS256'])",
        "colour = random.choice(COLOURS)",
    ],
)
def test_python_patterns_are_silent_on(text: str) -> None:
    assert found("patterns-security", text) == []


@pytest.mark.parametrize(
    ("path", "text", "category"),
    [
        ("a.js", 'db.query("SELECT * FROM t WHERE a = " + a);', "sql-injection"),
        ("a.js", "db.query(`SELECT *\n  FROM t\n  WHERE a = ${a}`);", "sql-injection"),
        ("a.php", '$db->query("SELECT * FROM t WHERE a = $a");', "sql-injection"),
        ("a.php", "$db->query('SELECT * FROM t WHERE a = ' . $a);", "sql-injection"),
        ("a.go", 'q := fmt.Sprintf("SELECT * FROM t WHERE a = %s", a)', "sql-injection"),
        (
            "A.java",
            'stmt.executeQuery("SELECT * FROM t WHERE a = \'" + a + "\'");',
            "sql-injection",
        ),
        ("a.js", "item.innerHTML = `<b>${name}</b>`;", "cross-site-scripting"),
        ("a.js", "item.innerHTML = name;", "cross-site-scripting"),
        ("a.js", 'box.insertAdjacentHTML("beforeend", html);', "cross-site-scripting"),
        ("a.ts", "<p dangerouslySetInnerHTML={{ __html: text }} />", "cross-site-scripting"),
        ("a.html", "<p>{{ text|safe }}</p>", "cross-site-scripting"),
        ("a.php", "echo $_GET['name'];", "cross-site-scripting"),
        ("a.js", "https.get(url, { rejectUnauthorized: false });", "tls-not-verified"),
        ("a.go", "&tls.Config{InsecureSkipVerify: true}", "tls-not-verified"),
        ("a.sh", "curl -sk https://host/file -o file", "tls-not-verified"),
        ("a.js", "crypto.createHash('md5')", "weak-hash"),
        ("a.js", "eval(text)", "code-execution"),
        ("a.js", "exec(`ls ${name}`)", "command-injection"),
        ("a.js", "const resetToken = Math.random().toString(36);", "weak-randomness"),
        ("a.sh", "curl https://host/install | sudo bash", "unverified-download"),
        ("a.sh", "chmod -R 777 /srv", "file-permissions"),
    ],
)
def test_text_patterns_find(path: str, text: str, category: str) -> None:
    assert categories("patterns-security", text, path) == [category]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", 'db.query("SELECT * FROM t WHERE a = ?", [a]);'),
        ("a.js", "sql`SELECT * FROM t WHERE a = ${a}`;"),
        ("a.js", "item.textContent = name;"),
        ("a.js", 'item.innerHTML = "<b>none</b>";'),
        ("a.js", 'item.innerHTML = "";'),
        ("a.js", "item.innerHTML = DOMPurify.sanitize(name);"),
        ("a.js", "if (item.innerHTML == name) {}"),
        ("a.js", "// item.innerHTML = name;"),
        ("a.js", "regex.exec(`a${b}`);"),
        ("a.html", "<p>{{ text }}</p>"),
        ("a.php", "echo htmlspecialchars($_GET['name']);"),
        ("a.sh", "curl -fsSL https://host/file -o file"),
        ("a.go", 'q := fmt.Sprintf("user %s", a)'),
    ],
)
def test_text_patterns_are_silent_on(path: str, text: str) -> None:
    assert found("patterns-security", text, path) == []


ROUTES = """
@app.get("/admin/users")
@login_required
def users():
    return list_users()


@app.post("/admin/users/<int:user>/delete")
def delete(user):
    remove(user)
"""


def test_a_route_without_the_check_of_its_neighbours_is_found() -> None:
    findings = found("routes", ROUTES)

    assert [(f.span.start, f.category, f.confidence) for f in findings] == [
        (9, "missing-authorization", 80)
    ]


@pytest.mark.parametrize(
    "text",
    [
        '@app.get("/products")\ndef products():\n    return all_products()',
        '@app.delete("/users/1")\ndef f(user=Depends(current_user)):\n    remove()',
        '@app.delete("/users/1", dependencies=[Depends(check)])\ndef f():\n    remove()',
        '@app.delete("/users/1")\ndef f():\n    if not g.user:\n        abort(403)\n    remove()',
        "router = APIRouter(dependencies=[Depends(check)])\n"
        '@router.delete("/users/1")\ndef f():\n    remove()',
    ],
)
def test_a_guarded_or_harmless_route_is_silent(text: str) -> None:
    assert found("routes", text) == []


def test_a_lone_route_without_a_check_is_reported_with_little_confidence() -> None:
    python = found("routes", '@app.delete("/users/1")\ndef f():\n    remove()')
    express = found("routes", 'app.delete("/users/:id", async (req, res) => {\n});', "a.js")

    assert [f.confidence for f in (*python, *express)] == [55, 55]
    assert found("routes", 'app.delete("/users/:id", requireLogin, handler);', "a.js") == []

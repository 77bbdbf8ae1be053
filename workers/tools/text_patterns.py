"""Security problems that a line of text gives away, in languages that we do not parse."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from common.contracts import Document
from workers.tools import source
from workers.tools.findings import Hit

EVERY = ""
JS = "javascript typescript"
PAGE = "html vue"
SCRIPT = f"{JS} {PAGE}"
SHELL = "shell dockerfile"
JVM = "java kotlin"
PLUS = f"{JS} {JVM} csharp go ruby swift scala"

SQL = r"(?:SELECT\s[^\"'`]{1,300}?\sFROM|INSERT\s+INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM)\b"
QUOTED_SQL = rf"[\"']\s*{SQL}[^\"\n]{{0,400}}"
VALUE = r"(?:[a-z_$]|`[^`]*\$\{|[\"'][^\"']*[\"']\s*\+)"
"""A name, a template with a value in it, or a text that goes on with a plus."""
CLEANED = r"(?!.*(?:sanitize|escape|encode|purify|htmlspecialchars|htmlentities|intval))"
PRIVATE = r"(?:token|secret|password|passwd|api_?key|session_?id|nonce|otp)"


class Pattern(NamedTuple):
    """A rule on one line, for some languages or for every one."""

    category: str
    rule: str
    confidence: int
    languages: frozenset[str]
    regex: re.Pattern[str]


def _of(category: str, *entries: tuple[str, int, str, str]) -> list[Pattern]:
    return [
        Pattern(category, rule, sure, frozenset(spoken.split()), re.compile(regex, re.IGNORECASE))
        for rule, sure, spoken, regex in entries
    ]


PATTERNS = (
    *_of(
        "sql-injection",
        ("sql-plus", 80, PLUS, rf"{QUOTED_SQL}[\"']\s*\+\s*[a-z_$(]"),
        ("sql-dot", 80, "php", rf"{QUOTED_SQL}[\"']\s*\.\s*\$"),
        ("sql-dollar", 80, "php kotlin", rf"\"\s*{SQL}[^\"]*\$[a-z_{{]"),
        # A tag before the template, as in sql`...`, passes the values as parameters.
        ("sql-template", 75, JS, rf"(?<![\w.$)])`\s*{SQL}[^`]*\$\{{"),
        ("sql-interpolated", 80, "ruby", rf"\"\s*{SQL}[^\"]*#\{{"),
        ("sql-interpolated", 80, "csharp", rf"\$@?\"\s*{SQL}[^\"]*\{{[a-z]"),
        ("sql-sprintf", 75, "go php", rf"Sprintf\(\s*[\"`]\s*{SQL}[^\"`]*%[sv]"),
    ),
    *_of(
        "cross-site-scripting",
        ("inner-html", 80, SCRIPT, rf"\.(?:inner|outer)HTML\s*\+?=(?!=)\s*{CLEANED}{VALUE}"),
        ("insert-html", 80, SCRIPT, rf"insertAdjacentHTML\([^,]+,\s*{CLEANED}{VALUE}"),
        ("document-write", 80, SCRIPT, rf"document\.write(?:ln)?\(\s*{CLEANED}{VALUE}"),
        ("react-html", 70, SCRIPT, rf"dangerouslySetInnerHTML=\{{\{{\s*__html:\s*{CLEANED}[a-z_$]"),
        ("vue-html", 60, PAGE, rf"\sv-html=[\"']{CLEANED}\w"),
        ("safe-filter", 75, PAGE, r"\{\{[^}]*\|\s*safe\b"),
        ("autoescape-off", 80, PAGE, r"\{%-?\s*autoescape\s+(?:off|false)\b"),
        ("unescaped-echo", 70, "php html", r"\{!!\s*\$\w"),
        ("echo-request", 90, "php", rf"\b(?:echo|print)\b{CLEANED}[^;]*\$_(?:GET|POST|REQUEST)\b"),
        ("html-safe", 60, "ruby", r"\bparams\[[^\]]+\]\.html_safe\b"),
    ),
    *_of(
        "tls-not-verified",
        ("tls-node", 95, SCRIPT, r"rejectUnauthorized\s*:\s*false"),
        ("tls-node", 95, EVERY, r"NODE_TLS_REJECT_UNAUTHORIZED\W{1,6}0\b"),
        ("tls-go", 95, "go", r"InsecureSkipVerify\s*:\s*true"),
        ("tls-php", 95, "php", r"CURLOPT_SSL_VERIFY(?:PEER|HOST)\s*(?:,|=>)\s*(?:false|0)\b"),
        ("tls-ruby", 95, "ruby", r"OpenSSL::SSL::VERIFY_NONE"),
        ("tls-off", 90, "yaml toml json", r"insecure_?skip_?(?:tls_?)?verify\W{1,4}true"),
        ("tls-curl", 80, SHELL, r"\bcurl\s(?:[^|;&]*\s)?(?:-[a-jl-z]*k\b|--insecure\b)"),
    ),
    *_of(
        "weak-hash",
        ("weak-hash", 70, SCRIPT, r"createHash\(\s*[\"'](?:md5|sha1)[\"']"),
        ("weak-hash", 70, JVM, r"MessageDigest\.getInstance\(\s*\"(?:MD5|SHA-?1)\""),
        ("weak-hash", 65, "go", r"\b(?:md5|sha1)\.(?:New|Sum)\("),
        ("weak-hash", 65, "csharp", r"\b(?:MD5|SHA1)\.Create\("),
        ("weak-hash", 65, "ruby", r"Digest::(?:MD5|SHA1)\b"),
        ("weak-hash", 80, "php", r"\b(?:md5|sha1)\(\s*\$\w*pass"),
    ),
    *_of(
        "code-execution",
        ("eval", 85, SCRIPT, r"(?<![.\w$])(?:eval|new\s+Function)\(\s*(?![\"'`)\s])"),
        ("eval", 85, "php", r"(?<![.\w$>])eval\(\s*\$"),
    ),
    *_of(
        "command-injection",
        ("exec", 80, JS, r"(?<![.\w$])exec(?:Sync)?\(\s*(?:`[^`]*\$\{|[\"'][^\"']*[\"']\s*\+)"),
        (
            "exec",
            80,
            "php",
            r"(?<![\w$>:])(?:shell_)?(?:exec|system|passthru)\((?!.*escape)[^;]*\$",
        ),
        ("exec", 80, JVM, r"getRuntime\(\)\.exec\(\s*\"[^\"]*\"\s*\+"),
        (
            "exec",
            80,
            "go",
            r"exec\.Command\(\s*\"(?:ba)?sh\"\s*,\s*\"-c\"\s*,\s*(?!\"[^\"]*\"\s*\))",
        ),
    ),
    *_of(
        "weak-randomness",
        ("math-random", 85, SCRIPT, rf"{PRIVATE}\w*\s*[:=](?!=).*Math\.random\("),
    ),
    *_of(
        "open-cors",
        ("any-origin", 75, EVERY, r"Access-Control-Allow-Origin[\"']?\s*[,:=]\s*[\"']?\*"),
    ),
    *_of("file-permissions", ("chmod", 85, SHELL, r"\bchmod\s+(?:-R\s+)?(?:0?777|a\+rwx)\b")),
    *_of(
        "unverified-download",
        ("pipe-to-shell", 80, SHELL, r"\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b"),
    ),
)


def hits(document: Document) -> Iterator[Hit]:
    """Yield the patterns that a document's lines match, comments apart."""
    rules = [p for p in PATTERNS if not p.languages or document.language in p.languages]
    for start, end, line in source.statements(document):
        if len(line) <= source.LONGEST_LINE:
            for pattern in rules:
                if pattern.regex.search(line):
                    rule = f"pattern:{pattern.rule}"
                    yield Hit(start, rule, pattern.category, pattern.confidence, end)

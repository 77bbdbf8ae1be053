"""Which category a rule of an outside analyser belongs to, and how often it is right.

Only the rules named here are asked for: each was chosen because its findings are worth a reader's
time. `bandit:B608`, `ruff:S608` and our own pattern all are `sql-injection`.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    """An outside rule's category, and the share of its findings that are real, in percent."""

    category: str
    confidence: int


def _table(*entries: tuple[str, int, str]) -> dict[str, Rule]:
    """Return rules by code from lines of category, confidence and codes."""
    return {
        code: Rule(category, confidence)
        for category, confidence, codes in entries
        for code in codes.split()
    }


BANDIT = _table(
    ("code-execution", 80, "B102 B307"),
    ("code-execution", 70, "B612"),
    ("file-permissions", 85, "B103"),
    ("open-bind", 60, "B104"),
    ("hard-coded-secret", 50, "B105 B106 B107"),
    ("insecure-temporary-file", 55, "B108"),
    ("insecure-temporary-file", 85, "B306"),
    ("missing-timeout", 85, "B113"),
    ("debug-mode", 90, "B201"),
    ("unsafe-extraction", 70, "B202"),
    ("unsafe-deserialisation", 65, "B301 B302 B614"),
    ("unsafe-deserialisation", 90, "B506"),
    ("weak-hash", 75, "B303 B324"),
    ("weak-encryption", 80, "B304 B305 B502 B503 B504 B505"),
    ("cross-site-scripting", 70, "B308 B701 B702 B703 B704"),
    ("insecure-protocol", 80, "B312 B321 B508 B509"),
    ("xml-entities", 50, "B313 B314 B315 B316 B317 B318 B319"),
    ("tls-not-verified", 95, "B323 B501"),
    ("host-key-not-verified", 90, "B507"),
    ("command-injection", 65, "B601 B602 B604 B605 B609"),
    ("sql-injection", 70, "B608 B610 B611"),
    ("trojan-source", 95, "B613"),
)

RUFF_SECURITY = _table(
    ("code-execution", 80, "S102 S307"),
    ("code-execution", 70, "S612"),
    ("file-permissions", 85, "S103"),
    ("open-bind", 60, "S104"),
    ("hard-coded-secret", 50, "S105 S106 S107"),
    ("insecure-temporary-file", 55, "S108"),
    ("insecure-temporary-file", 85, "S306"),
    ("missing-timeout", 85, "S113"),
    ("debug-mode", 90, "S201"),
    ("unsafe-extraction", 70, "S202"),
    ("unsafe-deserialisation", 65, "S301 S302"),
    ("unsafe-deserialisation", 90, "S506"),
    ("weak-hash", 75, "S303 S324"),
    ("weak-encryption", 80, "S304 S305 S502 S503 S504 S505"),
    ("cross-site-scripting", 70, "S308 S701 S702 S704"),
    ("insecure-protocol", 80, "S312 S321 S508 S509"),
    ("xml-entities", 50, "S313 S314 S315 S316 S317 S318 S319"),
    ("tls-not-verified", 95, "S323 S501"),
    ("host-key-not-verified", 90, "S507"),
    ("command-injection", 65, "S601 S602 S604 S605 S609"),
    ("sql-injection", 70, "S608 S610 S611"),
    ("trojan-source", 95, "PLE2502 PLE2515"),
)

RUFF_PERFORMANCE = _table(
    ("needless-work", 85, "PERF101 PERF102 PERF402 RUF015 FURB129 FURB192 SIM118"),
    ("needless-work", 75, "PERF401 PERF403"),
    ("needless-work", 90, "C400 C401 C402 C403 C404 C409 C410 C411 C413 C414 C415 C416 C419"),
    ("needless-work", 85, "PLR1733 PLR1736 RUF019"),
    ("quadratic-growth", 90, "RUF017"),
    ("blocking-in-async", 85, "ASYNC210 ASYNC212 ASYNC220 ASYNC221 ASYNC222 ASYNC250 ASYNC251"),
    ("blocking-in-async", 60, "ASYNC110 ASYNC230"),
    ("memory-leak", 60, "B019"),
)

RUFF_STYLE = _table(
    ("naming", 85, "N801 N802 N803 N804 N805 N806 N807 N815 N816 E741 E742 E743"),
    ("missing-docs", 90, "D101 D102 D103 D419"),
    ("unused-import", 90, "F401"),
    ("star-import", 95, "F403"),
    ("import-order", 80, "E402"),
    ("crowded-line", 95, "E401 E701 E702 E703"),
    ("idiom", 90, "E711 E713 E714 E721 E731 SIM103 SIM201 SIM202 SIM208 SIM210 SIM211 SIM212"),
    ("idiom", 80, "B009 B010 PIE790 PIE810 SIM101 SIM110 SIM401"),
    ("shadowed-builtin", 80, "A001 A002 A004"),
    ("leftover-debugging", 95, "T100"),
    ("many-parameters", 75, "PLR0913"),
)

RUFF_LOGIC = _table(
    ("undefined-name", 95, "F821 F822 F823 PLE0118 PLE0117"),
    ("misplaced-statement", 98, "F404 F701 F702 F704 F706 F707 PLE0100 PLE0101 PLE0115 PLE1142"),
    ("misplaced-statement", 95, "PLE0604 PLE0605 PLE1700 PLW0245"),
    ("wrong-format", 95, "F501 F502 F503 F505 F506 F507 F508 F509 F521 F524 F525 PLE1300 PLE1307"),
    ("wrong-format", 90, "F504 F522 F523 F541 PLE1205 PLE1206"),
    ("wrong-call", 90, "B004 B026 B034 PLE1132 PLE1507 PLE1519 PLE1520 PLW1501 PLW1507"),
    ("wrong-call", 85, "B005 PLE0643 PLE1310 PLW1509 RUF016 RUF026"),
    ("wrong-signature", 95, "PLE0302 PLE0303 PLE0304 PLE0305 PLE0307 PLE0308 PLE0309"),
    ("wrong-signature", 70, "PLR0206"),
    ("wrong-signature", 85, "PLE0237 PLE0241 PLW0211 PLW0642"),
    ("mutable-default", 95, "B006 RUF008 B039"),
    ("mutable-default", 85, "RUF024"),
    ("call-in-default", 70, "B008 RUF009"),
    ("unused-variable", 90, "F841 F842"),
    ("shadowed-name", 80, "B020 F402"),
    ("shadowed-name", 55, "PLR1704"),
    ("redefinition", 90, "F811 PIE794 PIE796 PLW0128"),
    ("self-comparison", 95, "PLR0124 PLW0127"),
    ("identity-with-literal", 98, "F632"),
    ("constant-condition", 95, "F631 F634 PLR0133 PLW0129 PLW0177 RUF034 SIM220 SIM221 SIM222"),
    ("constant-condition", 95, "SIM223 RUF030 RUF040 RUF060"),
    ("duplicate-key", 95, "B025 B033 B035 F601 F602"),
    ("swallowed-exception", 80, "S110 S112"),
    ("bare-except", 90, "E722"),
    ("exception-misuse", 90, "B012 B014 B016 B029 B030 F901 PLE0116 PLW0711 SIM107"),
    ("resource-leak", 80, "SIM115"),
    ("discarded-value", 90, "B015 B021 B022 B032 F633 PLW0133 PLW0131 PLW2101"),
    ("discarded-value", 70, "B018"),
    ("mutated-while-iterated", 90, "B031"),
    ("late-binding", 75, "B023"),
    ("lost-task", 85, "RUF006"),
)

"""The kinds of problems, the same for every analyser, so that agreement can be counted.

A category says how bad such a problem is when it is real. How sure a rule is that it is real is
the rule's confidence (see `rules`).
"""

from typing import NamedTuple

from common.contracts import Severity


class Category(NamedTuple):
    """What is said of a problem of this kind unless a rule knows better."""

    severity: Severity
    message: str
    suggestion: str = ""


def _critical(message: str, suggestion: str = "") -> Category:
    return Category("critical", message, suggestion)


def _warning(message: str, suggestion: str = "") -> Category:
    return Category("warning", message, suggestion)


def _info(message: str, suggestion: str = "") -> Category:
    return Category("info", message, suggestion)


SECURITY = {
    "sql-injection": _critical(
        "The SQL text is put together from values, so a value can change what it does.",
        "Pass the values as parameters of the query.",
    ),
    "cross-site-scripting": _critical(
        "A value reaches the page as markup without being escaped, so it can carry a script.",
        "Escape the value, or set it as text instead of markup.",
    ),
    "template-injection": _critical(
        "A template is put together from values, so a value can run code in the template engine.",
        "Keep the template constant and pass the values to it.",
    ),
    "command-injection": _critical(
        "A command line is put together or run by a shell, so a value can add commands.",
        "Pass the program and its arguments as a list, without a shell.",
    ),
    "code-execution": _critical(
        "Text is run as code.", "Parse the text, or look the action up in a table."
    ),
    "hard-coded-secret": _critical(
        "A secret stands in the source, where everyone who can read it has it.",
        "Read it from the environment or a secret store, and replace the one that was exposed.",
    ),
    "missing-authorization": _critical(
        "This route changes or reveals something and no check of the caller is in sight.",
        "Require a signed-in caller with the right role before anything happens.",
    ),
    "auth-bypass": _critical(
        "The signature of a token is not checked, so anyone can write one.",
        "Verify the signature, and name the accepted algorithms.",
    ),
    "unsafe-deserialisation": _critical(
        "Reading this format can run code that the data carries.",
        "Use a format that holds only data, such as JSON, or the library's safe loader.",
    ),
    "path-traversal": _critical(
        "A path comes from the request, so it can name any file of the server.",
        "Resolve the path and check that it stays below the folder that is meant.",
    ),
    "request-forgery": _critical(
        "The address comes from the request, so the server can be made to call any host.",
        "Allow only known hosts.",
    ),
    "tls-not-verified": _critical(
        "The certificate of the other side is not checked, so anyone in between can read along.",
        "Leave verification on; give the authority's certificate if it is a private one.",
    ),
    "trojan-source": _critical(
        "Invisible characters make the source look different from what it does.",
        "Remove the characters.",
    ),
    "debug-mode": _critical(
        "Debug mode is on, which lets a visitor run code when it reaches production.",
        "Switch it on by a setting of the developer's machine only.",
    ),
    "insecure-protocol": _warning(
        "This protocol sends everything readable.", "Use the encrypted protocol."
    ),
    "host-key-not-verified": _warning(
        "The host's key is accepted without a check, so anyone in between can take its place.",
        "Load the known host keys and refuse the others.",
    ),
    "weak-hash": _warning(
        "This hash is broken and does not protect what depends on it.",
        "Use SHA-256, or for passwords a slow hash such as Argon2, scrypt or bcrypt.",
    ),
    "weak-encryption": _warning(
        "This encryption or key length is too weak.", "Use AES-GCM and keys of today's length."
    ),
    "weak-randomness": _warning(
        "A secret is made from predictable random numbers.",
        "Use a cryptographic generator, such as Python's `secrets`.",
    ),
    "open-redirect": _warning(
        "The target of the redirect comes from the request, so a link can lead anywhere.",
        "Redirect to paths of this site only.",
    ),
    "unsafe-extraction": _warning(
        "An archive is unpacked without a check of its paths, so it can overwrite any file.",
        "Unpack with a filter that refuses paths outside the folder.",
    ),
    "xml-entities": _warning(
        "This XML parser follows entities, which can exhaust memory or read files.",
        "Use defusedxml for XML from outside.",
    ),
    "file-permissions": _warning(
        "Everyone on the machine may change this file.", "Give the rights that are needed only."
    ),
    "insecure-temporary-file": _warning(
        "Another user can foresee or take over this temporary file.", "Use the `tempfile` module."
    ),
    "missing-timeout": _warning(
        "The request has no timeout, so a silent server blocks the caller for ever.",
        "Give a timeout.",
    ),
    "unverified-download": _warning(
        "A script is downloaded and run without a check.", "Pin the file and check its digest."
    ),
    "open-bind": _info(
        "The server listens on all networks of the machine.", "Bind to the address that is meant."
    ),
    "open-cors": _info(
        "Every web site may call this and read the answer.", "Name the sites that may."
    ),
}

PERFORMANCE = {
    "n-plus-one": _warning(
        "A query runs once for every turn of a loop.",
        "Fetch all rows with one query before the loop, or join.",
    ),
    "request-in-loop": _warning(
        "A network request runs once for every turn of a loop.",
        "Ask for all items at once, or send the requests at the same time.",
    ),
    "quadratic-growth": _warning("The work grows with the square of the input."),
    "complex-function": _warning(
        "The function has too many paths to test or to change safely.",
        "Move branches into functions of their own, or into a table.",
    ),
    "deep-nesting": _warning(
        "The function nests its blocks too deep to follow.",
        "Return early, or move the inner blocks into functions.",
    ),
    "long-function": _info("The function is very long.", "Split it by purpose."),
    "needless-work": _info("The same result takes less work."),
    "blocking-in-async": _warning(
        "A blocking call in an async function stops every other task.",
        "Use the async counterpart, or run it in a thread.",
    ),
    "memory-leak": _warning("Objects are kept alive for as long as the process runs."),
}

LOGIC = {
    "syntax-error": _critical("The file does not parse."),
    "too-deep": _info(
        "The code nests too deep to be walked, so many rules were not applied to this file.",
        "Split the expression, or leave generated files out of the review.",
    ),
    "merge-conflict": _critical("A merge conflict was left in the file.", "Resolve it."),
    "undefined-name": _critical(
        "A name is used that is not defined, which fails when the line runs."
    ),
    "off-by-one": _critical("The last index lies beyond the end."),
    "misplaced-statement": _critical("This statement is not allowed here."),
    "missing-await": _critical(
        "The coroutine is created but never awaited, so its body does not run.", "Await it."
    ),
    "wrong-call": _warning("The call does not fit what is called."),
    "wrong-format": _warning("The format text and its values do not fit."),
    "wrong-signature": _warning("A special method has the wrong shape."),
    "mutable-default": _warning(
        "The default is made once and shared by all calls or objects.",
        "Use None as the default and make the value inside.",
    ),
    "call-in-default": _warning("The default is computed once, not at each call."),
    "unused-variable": _warning("A value is computed and never used."),
    "shadowed-name": _warning("An outer name is overwritten by an inner one."),
    "redefinition": _warning("A definition replaces an earlier one that was never used."),
    "self-comparison": _warning("Both sides are the same, so the result is always the same."),
    "identity-with-literal": _warning(
        "`is` compares identity, not value; with a literal the result is a matter of chance.",
        "Compare with `==`.",
    ),
    "constant-condition": _warning("The condition always has the same result."),
    "duplicate-condition": _warning("The condition was tested before, so this branch never runs."),
    "identical-branches": _info("Both branches do the same."),
    "assignment-in-condition": _warning(
        "The condition assigns instead of comparing.", "Compare, or assign before the condition."
    ),
    "duplicate-key": _warning("A key or value is given twice; one of them is lost."),
    "swallowed-exception": _warning(
        "Errors of every kind are dropped without a trace.",
        "Catch the errors that are expected, and log or raise the others.",
    ),
    "bare-except": _warning(
        "This catches everything, even the interruption of the program.",
        "Name the exceptions that are expected.",
    ),
    "exception-misuse": _warning("Exceptions are handled in a way that loses them."),
    "float-equality": _warning(
        "Fractions have no exact binary value, so this comparison can fail for equal amounts.",
        "Compare with a tolerance, or use decimal.",
    ),
    "unreachable-code": _warning("This code can never run.", "Remove it or move it up."),
    "resource-leak": _warning("What is opened here is not closed on every path.", "Use `with`."),
    "swapped-arguments": _warning("The arguments stand in another order than the parameters."),
    "discarded-value": _warning("The result is thrown away, so the line does nothing."),
    "in-place-result": _warning("The method changes the object in place and returns None."),
    "mutated-while-iterated": _warning(
        "The collection is changed while it is walked, which skips items or fails.",
        "Walk over a copy, or collect the changes first.",
    ),
    "late-binding": _warning(
        "The function sees the loop variable's last value, not the one of its turn.",
        "Bind the value as a default argument.",
    ),
    "lost-task": _warning("Nothing keeps the task, so it can vanish before it is done."),
}

STYLE = {
    "naming": _info("The name does not follow the language's convention."),
    "missing-docs": _info(
        "Something public has no documentation.", "Say in one line what it promises."
    ),
    "unused-import": _info("An import is not used.", "Remove it."),
    "star-import": _info(
        "A star import hides where names come from.", "Import the names that are used."
    ),
    "import-order": _info("An import stands below other code.", "Move it to the top."),
    "crowded-line": _info("Several statements share a line.", "Give each its own line."),
    "idiom": _info("The language has a plainer way to write this."),
    "shadowed-builtin": _info("The name hides a builtin.", "Choose another name."),
    "many-parameters": _info(
        "The function takes more parameters than a caller can keep apart.",
        "Group what belongs together.",
    ),
    "long-file": _info("The file is too long to find one's way.", "Split it by purpose."),
    "leftover-debugging": _warning("A debugging statement was left in.", "Remove it."),
}

CATEGORIES = SECURITY | PERFORMANCE | LOGIC | STYLE

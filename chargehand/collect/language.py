"""The language of a file, by its name or, when the name has no ending, by its first line."""

import re
from pathlib import PurePosixPath

BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
    "jenkinsfile": "groovy",
    "cmakelists.txt": "cmake",
    ".bashrc": "shell",
    ".bash_profile": "shell",
    ".profile": "shell",
    ".zshrc": "shell",
    ".babelrc": "json",
    ".eslintrc": "json",
}

_ENDINGS = {
    "c": "c h",
    "clojure": "clj cljs cljc",
    "cmake": "cmake",
    "cpp": "cc cpp cxx c++ hh hpp hxx ipp",
    "csharp": "cs csx",
    "css": "css",
    "dart": "dart",
    "dockerfile": "dockerfile",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "fsharp": "fs fsx",
    "go": "go",
    "graphql": "graphql gql",
    "groovy": "groovy gradle",
    "haskell": "hs",
    "html": "html htm xhtml",
    "ini": "ini cfg",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "json": "json jsonc json5",
    "julia": "jl",
    "kotlin": "kt kts",
    "less": "less",
    "lua": "lua",
    "makefile": "mk",
    "markdown": "md markdown mdx",
    "objectivec": "m mm",
    "perl": "pl pm",
    "php": "php phtml",
    "powershell": "ps1 psm1",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "r": "r",
    "restructuredtext": "rst",
    "ruby": "rb rake gemspec",
    "rust": "rs",
    "scala": "scala sc",
    "scss": "scss sass",
    "shell": "sh bash zsh ksh",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "terraform": "tf tfvars hcl",
    "text": "txt",
    "toml": "toml",
    "typescript": "ts tsx mts cts",
    "vue": "vue",
    "xml": "xml xsd xsl xslt svg",
    "yaml": "yaml yml",
}
BY_ENDING = {end: language for language, ends in _ENDINGS.items() for end in ends.split()}

BY_INTERPRETER = {
    "ash": "shell",
    "bash": "shell",
    "dash": "shell",
    "ksh": "shell",
    "sh": "shell",
    "zsh": "shell",
    "deno": "typescript",
    "lua": "lua",
    "node": "javascript",
    "nodejs": "javascript",
    "perl": "perl",
    "php": "php",
    "pwsh": "powershell",
    "python": "python",
    "pypy": "python",
    "ruby": "ruby",
    "rscript": "r",
}

# `#!/usr/bin/env -S VAR=1 python3 -u` and `#!/usr/bin/python3.11` both name python.
_SHEBANG = re.compile(r"#!\s*(?P<program>\S+)(?P<rest>[^\n]*)")
_VERSION = re.compile(r"[\d.]+$")


def of(path: str, text: str) -> str | None:
    """Return the language of a file, or None when nothing tells it."""
    name = PurePosixPath(path).name.lower()
    stem, _, _ = name.partition(".")
    ending = PurePosixPath(name).suffix.removeprefix(".")
    if name in BY_NAME or (stem in ("dockerfile", "containerfile") and ending not in BY_ENDING):
        return BY_NAME.get(name, "dockerfile")
    if ending:
        return BY_ENDING.get(ending)
    return _by_shebang(text)


def _by_shebang(text: str) -> str | None:
    shebang = _SHEBANG.match(text)
    if not shebang:
        return None
    words = [shebang["program"], *shebang["rest"].split()]
    if PurePosixPath(words[0]).name == "env":
        words = [w for w in words[1:] if not w.startswith("-") and "=" not in w]
    program = PurePosixPath(words[0]).name.lower() if words else ""
    return BY_INTERPRETER.get(_VERSION.sub("", program))

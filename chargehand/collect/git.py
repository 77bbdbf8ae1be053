"""The one door to git: argument lists, no shell, no pager, no hook, no foreign program."""

import difflib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from chargehand.collect import content
from common.errors import InputError

SECONDS = 60.0
OUTPUT_LIMIT = 20_000_000

# What a repository's or a user's settings could otherwise make git do.
SETTINGS = {
    "core.abbrev": "10",
    "core.bigFileThreshold": str(content.LIMIT),
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "off",
}
PLAIN_DIFF = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--unified=0",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=dirty",
    "--find-renames",
]


class GitFailed(InputError):
    """Git ended with an error, did not end in time, or said too much."""


@dataclass(frozen=True)
class Repository:
    """A git repository with a working tree."""

    root: Path

    def commit(self, ref: str) -> str:
        """Return the full hash of the commit that a ref names."""
        if not ref or ref.startswith("-") or not ref.isprintable():
            raise InputError(f"{ref!r} is no git ref; give a branch, a tag or a commit")
        try:
            wanted = f"{ref}^{{commit}}"
            return self.text("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        except GitFailed:
            raise InputError(self._unknown(ref)) from None

    def merge_base(self, base: str) -> str:
        """Return the commit from which HEAD and a ref went different ways."""
        if not self._runs("rev-parse", "--verify", "--quiet", "HEAD"):
            raise InputError(f"{self.root} has no commit yet; review its files by their paths")
        start = self.commit(base)
        try:
            return self.text("merge-base", start, "HEAD")
        except GitFailed:
            raise InputError(
                f"{base!r} and HEAD have no commit in common; give another base, "
                "or `git fetch --unshallow` if this is a shallow clone"
            ) from None

    def diff(self, commit: str) -> bytes:
        """Return what changed from a commit to the working tree, as a diff without context."""
        return self.run("diff", *PLAIN_DIFF, commit, "--")

    def blob(self, commit: str, path: str) -> bytes:
        """Return what a file held at a commit."""
        return self.run("cat-file", "blob", f"{commit}:{path}")

    def untracked(self) -> list[str]:
        """Return the files that git neither tracks nor ignores."""
        return self._names("ls-files", "-z", "--others", "--exclude-standard")

    def files(self, folder: Path) -> list[str]:
        """Return the files below a folder that git does not ignore, by their path from the root."""
        below = os.path.relpath(folder, self.root)
        wanted = () if below == "." else (f":(literal){below}",)
        names = self._names("ls-files", "-z", "-co", "--exclude-standard", "--", *wanted)
        return sorted(set(names))

    def text(self, *arguments: str) -> str:
        """Run git and return its first line."""
        return os.fsdecode(self.run(*arguments)).removesuffix("\n")

    def run(self, *arguments: str, seconds: float = SECONDS) -> bytes:
        """Run git at the repository's root and return its output."""
        return _run(self.root, *arguments, seconds=seconds)

    def _names(self, *arguments: str) -> list[str]:
        return [os.fsdecode(name) for name in self.run(*arguments).split(b"\0") if name]

    def _runs(self, *arguments: str) -> bool:
        try:
            self.run(*arguments)
        except GitFailed:
            return False
        return True

    def _unknown(self, ref: str) -> str:
        kinds = ("refs/heads", "refs/remotes", "refs/tags")
        known = self.text("for-each-ref", "--format=%(refname:short)", *kinds).split("\n")
        known = [name for name in known if name]
        close = difflib.get_close_matches(ref, known, n=3)
        if close:
            return f"no ref {ref!r} in {self.root}; did you mean {' or '.join(close)}?"
        return f"no ref {ref!r} in {self.root}; it has: {', '.join(known[:5]) or 'no branch'}"


def find(folder: Path) -> Repository:
    """Return the repository that a folder is in, or say why there is none."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; give one inside a git repository")
    try:
        root = _run(folder, "rev-parse", "--show-toplevel")
    except GitFailed as error:
        if "dubious ownership" in str(error):
            raise InputError(
                f"git refuses {folder} since another user owns it; "
                f"allow it with `git config --global --add safe.directory {folder}`"
            ) from None
        raise InputError(
            f"{folder} is not in a git repository with a working tree; "
            "change into one, or review a diff or files by their paths"
        ) from None
    return Repository(Path(os.fsdecode(root).removesuffix("\n")))


def find_or_none(folder: Path) -> Repository | None:
    """Return the repository that a folder is in, if it is in one that git can use."""
    try:
        return find(folder)
    except InputError:
        return None


def _run(folder: Path, *arguments: str, seconds: float = SECONDS) -> bytes:
    program = shutil.which("git")
    if program is None:
        raise InputError("git is not installed; install it, or review files by their paths")
    settings = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
    command = [program, "--no-pager", *settings, *arguments]
    # A file, not a pipe, so that a huge output fills no memory before it is refused.
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitFailed(
                f"git {arguments[0]} took more than {seconds:g} s in {folder}; try a nearer base"
            ) from None
        except OSError as error:
            raise GitFailed(f"git cannot run in {folder}: {error.strerror}") from None
        if done.returncode:
            said = " ".join(done.stderr.decode(errors="replace").split())
            raise GitFailed(f"git {arguments[0]} failed in {folder}: {said}")
        return _read(output.fileno(), arguments[0])


def _read(output: int, verb: str) -> bytes:
    size = os.fstat(output).st_size
    if size > OUTPUT_LIMIT:
        raise GitFailed(
            f"git {verb} gives {content.megabytes(size)}, over the limit of "
            f"{content.megabytes(OUTPUT_LIMIT)}; choose a nearer base or fewer files"
        )
    return os.pread(output, size, 0) if size else b""


def _environment() -> dict[str, str]:
    """Return this process's environment without what points git elsewhere, as hooks set it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(("GIT_CONFIG", "GIT_CEILING"))
    }
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}

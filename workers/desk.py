"""What a tool may touch: this step's texts, one scratch folder, and programs under a time limit.

A desk is made for one attempt at one step and cleared away after it. A tool gets no shell, no
repository and no path outside the scratch folder.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path

from common.contracts import Assignment, Document, Finding, Severity, Span, fingerprint

OUTPUT_LIMIT = 20_000_000
PROGRAM_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")


class ToolError(Exception):
    """A tool broke; `transient` tells whether another try may help."""

    def __init__(self, message: str, *, transient: bool = False) -> None:
        super().__init__(message)
        self.transient = transient


class ToolMissing(ToolError):
    """A program or package that the tool needs is not on this pod."""


class OutOfTime(ToolError):
    """The step's time is used up."""


class Stopped(ToolError):
    """The job was cancelled while the tool ran."""


@dataclass(frozen=True)
class Desk:
    """One attempt's place of work."""

    assignment: Assignment
    ends: float
    """When the step's time is used up, on the monotonic clock."""
    stopped: Callable[[], bool]
    """Tells whether the job was cancelled."""
    clearing: ExitStack
    """Clears away what was laid out."""
    leads: bool = True
    """Whether programs get a process group of their own; in a process that has one they do not."""

    @cached_property
    def scratch(self) -> Path:
        """The folder of this attempt, made when it is first needed."""
        folder = tempfile.TemporaryDirectory(prefix="chargehand-")
        return Path(self.clearing.enter_context(folder)).resolve()

    def left(self) -> float:
        """Return the seconds that remain, or raise when there are none or the job was stopped."""
        if self.stopped():
            raise Stopped("the job was cancelled")
        seconds = self.ends - time.monotonic()
        if seconds <= 0:
            raise OutOfTime(f"the step's {self.assignment.budget.seconds:g} s are used up")
        return seconds

    def subjects(self, *languages: str) -> list[Document]:
        """Return the documents to look at, of these languages or of all."""
        return [
            d
            for d in self.assignment.documents
            if d.role == "subject" and (not languages or d.language in languages)
        ]

    def counts(self, document: Document, span: Span) -> bool:
        """Tell whether a span lies in this step's part of a document, on lines that changed."""
        mine = [s.span for s in self.assignment.slices if s.path == document.path]
        in_slice = not mine or any(part is None or part.overlaps(span) for part in mine)
        return in_slice and (
            document.changed is None or any(part.overlaps(span) for part in document.changed)
        )

    def finding(
        self,
        document: Document,
        start: int,
        end: int | None = None,
        *,
        rule: str,
        category: str,
        severity: Severity,
        message: str,
        confidence: int,
        suggestion: str = "",
    ) -> Finding | None:
        """Return a finding, or None when it is not on lines that this step answers for."""
        # By line feeds only, as git and the analysers count: a form feed ends no line.
        lines = (document.text or "").removesuffix("\n").split("\n")
        start = max(1, min(start, len(lines)))
        span = Span(start=start, end=max(start, min(end or start, len(lines))))
        if not self.counts(document, span):
            return None
        return Finding(
            path=document.path,
            span=span,
            severity=severity,
            message=message,
            suggestion=suggestion,
            confidence=confidence,
            rule=rule,
            category=category,
            specialist=self.assignment.specialist,
            fingerprint=fingerprint(document.path, category, lines[start - 1] or document.path),
        )

    def write(self, document: Document) -> Path:
        """Write a document below the scratch folder and return where it is."""
        path = (self.scratch / document.path).resolve()
        if not path.is_relative_to(self.scratch):
            raise ToolError(f"path {document.path!r} leaves the scratch folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text or "", encoding="utf-8", newline="")
        return path

    def program(self, argv: Sequence[str], *, stdin: str = "") -> tuple[int, str, str]:
        """Run a program in the scratch folder; return its exit code, output and error output.

        It gets no shell, a clean environment and the step's remaining time, and is ended with its
        whole process group when the time is up or the job is cancelled.
        """
        environment = {k: os.environ[k] for k in PROGRAM_ENVIRONMENT if k in os.environ}
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin.encode())
            given.seek(0)
            try:
                process = subprocess.Popen(
                    list(argv),
                    stdin=given,
                    stdout=out,
                    stderr=err,
                    cwd=self.scratch,
                    env=environment | {"HOME": str(self.scratch), "PYTHONUTF8": "1"},
                    start_new_session=self.leads,
                )
            except (FileNotFoundError, PermissionError) as error:
                raise ToolMissing(
                    f"program {argv[0]!r} cannot be run: {error.strerror}; install it on this pod"
                ) from None
            try:
                self._wait(process)
            finally:
                _end(process, group=self.leads)
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read(OUTPUT_LIMIT).decode(errors="replace"))
        return process.returncode, texts[0], texts[1]

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                process.wait(timeout=min(self.left(), 0.5))
                return
            except subprocess.TimeoutExpired:
                continue


def _end(process: subprocess.Popen[bytes], *, group: bool) -> None:
    """End a program and its group; one that has ended by itself is left as it is."""
    if process.poll() is None:
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()


@contextmanager
def laid_out(
    assignment: Assignment,
    stopped: Callable[[], bool],
    left: float = inf,
    *,
    leads: bool = True,
) -> Iterator[Desk]:
    """Make a desk for one attempt, and clear it away; `left` are the seconds its job has left."""
    with ExitStack() as clearing:
        yield Desk(
            assignment=assignment,
            ends=time.monotonic() + min(assignment.budget.seconds, left),
            stopped=stopped,
            clearing=clearing,
            leads=leads,
        )

"""One log of many processes: each line with the coloured name of the one that wrote it."""

import threading
from collections.abc import Iterable
from itertools import cycle
from typing import TextIO

from rich.console import Console
from rich.text import Text

OWN = "chargehand"
_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "red")
# What a child prints may come from a file under review: no terminal command gets through.
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if code != ord("\t")}


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the decision to the log; rich would end this thread and redirect stdout."""
        raise BrokenPipeError


class MergedLog:
    """Lines of several processes in one stream, without the secrets that it was told of."""

    def __init__(self, stream: TextIO, names: Iterable[str]) -> None:
        known = sorted({OWN, *names})
        self._width = max(map(len, known))
        self._colours = {OWN: "bold", **dict(zip((n for n in known if n != OWN), cycle(_COLOURS)))}
        self._console = _Console(file=stream, highlight=False)
        self._lock = threading.Lock()
        self._secrets: set[str] = set()
        self._open = True

    def hide(self, secret: str) -> None:
        """From now on, show `***` wherever a line holds this."""
        self._secrets.add(secret)

    def say(self, text: str) -> None:
        """Write a text of our own."""
        for part in text.split("\n"):
            self.write(OWN, part)

    def write(self, name: str, line: str) -> str:
        """Write a line of the named process, and return it as it was shown."""
        shown = self._clean(line)
        prefix = Text(f"{name:<{self._width}} | ", style=self._colours.get(name, ""))
        with self._lock:
            if self._open:
                self._print(prefix.append(shown, style="default"))
        return shown

    def _clean(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, "***")
        return line.translate(_CONTROLS)

    def _print(self, text: Text) -> None:
        try:
            self._console.print(text, soft_wrap=True)
        except BrokenPipeError:
            # The reader has gone (`up | head`). The children must still be drained, or they block.
            self._open = False

"""Doors that a test opens are closed behind it: an open connection would fail a later test."""

from collections.abc import Iterator
from typing import Any

import pytest

from common.model import Door


@pytest.fixture(autouse=True)
def closed_doors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[Door] = []
    make = Door.__init__

    def kept(self: Door, *args: Any, **options: Any) -> None:
        make(self, *args, **options)
        opened.append(self)

    monkeypatch.setattr(Door, "__init__", kept)
    yield
    for door in opened:
        door.close()

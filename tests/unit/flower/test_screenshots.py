"""The pictures are taken by hand (`python -m docs.screenshots`); here they are only looked at."""

import re
import struct
from pathlib import Path

import pytest

from docs import screenshots

PAGE = Path(__file__).resolve().parents[3] / "docs" / "monitoring.md"
SHOWN = re.findall(r"!\[([^\]]+)\]\(screenshots/(\w+\.png)\)", PAGE.read_text(encoding="utf-8"))


def test_every_picture_is_shown_once_and_described() -> None:
    taken = sorted(file.name for file in screenshots.FOLDER.iterdir())

    assert taken
    assert sorted(name for _, name in SHOWN) == taken
    assert all(len(told) > 20 for told, _ in SHOWN)


@pytest.mark.parametrize("name", [name for _, name in SHOWN])
def test_a_picture_is_a_png_that_is_wide_enough_to_read_and_small_enough_to_load(name: str) -> None:
    picture = (screenshots.FOLDER / name).read_bytes()

    width, height = struct.unpack(">II", picture[16:24])
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert (width, height >= 400) == (screenshots.WIDTH, True)
    assert len(picture) <= screenshots.LARGEST

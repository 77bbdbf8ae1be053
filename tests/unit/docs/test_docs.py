"""The docs say what is: generated parts are fresh, links lead somewhere, examples hold."""

import json
import re
from pathlib import Path

import pytest
import yaml

from chargehand import formats
from common import teams
from common.settings import Settings
from common.states import JobState, StepState
from docs import generate
from docs.blocks import Block, blocks
from workers import tools

ROOT = Path(__file__).resolve().parents[3]
README, GUIDE = ROOT / "README.md", ROOT / "docs" / "guide.md"
PAGES = [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks(page)]
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def _by(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def _place(block: Block) -> str:
    return block.place


def _without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def test_the_reference_is_fresh() -> None:
    written = generate.REFERENCE.read_text(encoding="utf-8")

    assert written == generate.reference(), "stale; run `python -m docs.generate`"


def test_the_reference_has_every_command() -> None:
    sections = re.findall(r"^## chargehand (\w+)$", generate.reference(), re.MULTILINE)

    assert {"review", "plan", "submit", "up", "worker", "doctor"} <= set(sections)


def test_the_table_of_settings_is_fresh() -> None:
    guide = GUIDE.read_text(encoding="utf-8")

    assert guide == generate.guide(guide), "stale; run `python -m docs.generate`"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_in_the_guide_with_its_meaning(name: str) -> None:
    alias = Settings.model_fields[name].validation_alias
    row = rf"^\| `{alias or f'CHARGEHAND_{name.upper()}'}` \| .+ \| .+\. \|$"

    assert re.search(row, GUIDE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for found in LINK.finditer(_without_code(page)):
        target = found[1] or found[2]
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path) if path else page
        assert linked.exists(), target
        assert not anchor or anchor in _anchors(linked), target


def test_the_table_of_folders_names_every_folder_of_the_repository() -> None:
    named = re.findall(r"^\| \[`(\w+)/`\]\(\1\) \|", README.read_text(encoding="utf-8"), re.M)
    there = [f.name for f in ROOT.iterdir() if f.is_dir() and (f.name[0] not in "._")]

    assert sorted(named) == sorted(there)


def test_the_table_of_formats_names_every_format() -> None:
    table = README.read_text(encoding="utf-8").split("| `--format` |")[1].split("\n\n")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(formats.FORMATS)


@pytest.mark.parametrize("block", _by("python"), ids=_place)
def test_python_examples_compile(block: Block) -> None:
    compile(block.text, block.place, "exec")


@pytest.mark.parametrize("block", _by("json"), ids=_place)
def test_json_examples_parse(block: Block) -> None:
    json.loads(block.text)


def test_make_has_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    first = next(block for block in blocks(README) if block.language == "sh")

    assert first.lines() == ["make demo", "make test"]
    assert all(re.search(rf"^{line.split()[1]}:", makefile, re.M) for line in first.lines())


@pytest.fixture
def team_folder(tmp_path: Path) -> Path:
    """The folder of the guide's team, as its reader has it in the end."""
    for block in blocks(GUIDE):
        if block.purpose in ("file", "append"):
            file = tmp_path / block.argument
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as stream:
                stream.write(block.text)
    return tmp_path / "my-teams"


def test_the_team_of_the_guide_loads(team_folder: Path) -> None:
    team = teams.find("release_check", (team_folder,))

    assert list(team.specialists) == ["leaks", "leftovers"]
    assert set(team.specialists["leaks"].tools) <= set(tools.known())


def test_the_graph_in_the_guide_is_that_of_the_team_brief() -> None:
    quoted = next(b for b in blocks(GUIDE) if b.language == "yaml" and not b.purpose)
    shipped = yaml.safe_load((teams.SHIPPED / "brief" / "team.yaml").read_text(encoding="utf-8"))

    for name, value in yaml.safe_load(quoted.text).items():
        assert shipped[name] == value


@pytest.mark.parametrize(("heading", "states"), [("A job:", JobState), ("A step:", StepState)])
def test_every_state_is_drawn(heading: str, states: type[JobState] | type[StepState]) -> None:
    said = GUIDE.read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]

    assert {state for state in states if not re.search(rf"\b{state}\b", said)} == set()


def test_every_event_of_a_trace_is_explained() -> None:
    sources = [
        *(ROOT / "common" / "store" / "scripts").glob("*.lua"),
        ROOT / "workers" / "engines" / "rules.py",
    ]
    code = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    events = set(re.findall(r"(?:\btrace\(|\bnote\(|'event', )['\"](\w+)['\"]", code))
    section = GUIDE.read_text(encoding="utf-8").split("## Reading a trace")[1].split("\n## ")[0]

    assert {"submitted", "outcome", "tool"} <= events
    assert {e for e in events if f"| `{e}` |" not in section} == set()


def test_the_picture_is_wellformed_and_reads_in_the_dark() -> None:
    from xml.etree import ElementTree

    picture = (ROOT / "docs" / "flow.svg").read_text(encoding="utf-8")

    # It is a file of our own.
    assert ElementTree.fromstring(picture).tag.endswith("svg")  # noqa: S314
    assert "prefers-color-scheme: dark" in picture

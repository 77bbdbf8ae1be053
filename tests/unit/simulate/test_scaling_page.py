"""What docs/scaling.md tells a reader to simulate is simulated, and gives what it shows."""

import shlex
from pathlib import Path

import pytest

from chargehand.simulate.scenario import Arrivals, Autoscale, Scenario
from docs.blocks import blocks
from tests.unit.cli.conftest import Run, chargehand, folder

__all__ = ["chargehand", "folder"]

PAGE = Path(__file__).resolve().parents[3] / "docs" / "scaling.md"


def test_every_command_of_the_page_runs(chargehand: Run, folder: Path) -> None:
    printed, ran = "", 0
    for block in blocks(PAGE):
        match block.purpose:
            case "file":
                (folder / block.argument).write_text(block.text)
            case "run":
                for line in block.lines():
                    said = chargehand(*shlex.split(line)[1:])
                    assert (said.code, said.err) == (0, ""), line
                    printed, ran = said.out, ran + 1
            case "shown":
                missing = [line for line in block.lines() if line not in printed.splitlines()]
                assert not missing, printed
    assert ran >= 5


@pytest.mark.parametrize("model", [Arrivals, Autoscale, Scenario])
def test_every_field_of_a_scenario_is_on_the_page(
    model: type[Arrivals] | type[Autoscale] | type[Scenario],
) -> None:
    table = PAGE.read_text(encoding="utf-8").split("| field | meaning |")[1].split("\n\n")[0]

    # Those two are told field by field.
    unnamed = {name for name in model.model_fields if f"{name}`" not in table}
    assert unnamed <= {"arrivals", "pools"}

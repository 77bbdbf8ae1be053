"""A scenario that makes no sense is refused, with the field and the remedy."""

import json
from pathlib import Path

import pytest

from chargehand.simulate import read
from common.errors import InputError
from tests.unit.cli.conftest import Run, chargehand, folder

__all__ = ["chargehand", "folder"]

GOOD = "pools: {a: {pods: 2, slots: 5, step: {mean: 0.2}}}\narrivals: {pattern: burst, batch: 60}\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty or no mapping; start with `pools:`"),
        ("a: [", "is not YAML"),
        ("seed: 1", "pools: Field required"),
        ("pools: {a: {pod: 1}}", "pools.a.pod: is no known field"),
        ("pools: {a: {backups: [b]}}", "no specialist 'b'"),
        ("pools: {a: {backups: [a]}}", "it names itself"),
        ("pools: {a: {share: 0}}", "no pool has a share"),
        ("pools: {a: {}}\nlost: [{at: 1, pool: b}]", "lost names pool 'b'; known are: a"),
        ("pools: {a: {}}\nautoscale: {min: 9, max: 2}", "min 9 is above max"),
        ("pools: {a: {}}\narrivals: {rate: 1e6}\nseconds: 1e6", "20,000,000 are the most"),
        ("pools: {a: {}}\narrivals: {rate: .nan}", "arrivals.rate"),
        ("pools: {a: {}}\narrivals: {pattern: storm}", "'steady', 'burst' or 'wave'"),
        ("pools: {a: {step: {mean: 0}}}", "pools.a.step.mean: Input should be greater than 0"),
    ],
)
def test_a_wrong_file_is_refused_with_its_field(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(text)

    with pytest.raises(InputError) as refused:
        read(file)

    assert str(file) in str(refused.value)
    assert fault in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read(tmp_path / "none.yaml")


def test_a_file_is_simulated_and_printed_as_a_table(chargehand: Run, folder: Path) -> None:
    (folder / "day.yaml").write_text(GOOD)

    said = chargehand("simulate", "day.yaml")

    assert (said.code, said.err) == (0, "")
    assert "60 steps, the last done after 1.2 s; 60 primary" in said.out
    assert said.out.splitlines()[1].split()[:2] == ["a", "60"]


def test_options_make_the_same_scenario_as_a_file(chargehand: Run, folder: Path) -> None:
    (folder / "day.yaml").write_text(GOOD)
    options = ("--pattern", "burst", "--batch", "60", "--pods", "2", "--slots", "5")

    filed = chargehand("simulate", "day.yaml", "--format", "json")
    given = chargehand("simulate", *options, "--step-seconds", "0.2", "--format", "json")

    by_file, by_options = json.loads(filed.out), json.loads(given.out)
    assert by_file["waits"] == by_options["waits"]
    assert by_file["pools"]["a"] == by_options["pools"]["primary"]


def test_scaling_losses_and_prices_are_options_too(chargehand: Run) -> None:
    said = chargehand(
        *("simulate", "--rate", "40", "--batch", "10", "--seconds", "120", "--slots", "5"),
        *("--pods", "1", "--backup-pods", "1", "--overflow", "2", "--autoscale", "--max", "12"),
        *("--start-up", "3", "--lose", "60", "--pod-price", "0.1", "--seed", "5"),
    )

    assert (said.code, said.err) == (0, "")
    for word in ("primary", "backup", "overflow", "cost: "):
        assert word in said.out


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--rate", "-1"], "options: arrivals.rate: Input should be greater than 0"),
        (["--slots", "0"], "options: pools.primary.slots"),
        (["--min", "2"], "--min bounds what --autoscale does; give that, too"),
        (["--autoscale", "--min", "9"], "--min 9 is above --max 8"),
        (["none.yaml"], "none.yaml: cannot be read"),
        (["day.yaml", "--rate", "3"], "day.yaml is the whole scenario"),
        (["--pattern", "storm"], "'storm' is not one of"),
    ],
)
def test_wrong_options_are_one_line(
    chargehand: Run, folder: Path, options: list[str], fault: str
) -> None:
    (folder / "day.yaml").write_text(GOOD)

    said = chargehand("simulate", *options)

    assert (said.code, said.out) == (2, "")
    assert fault in said.err
    assert said.err.count("\n") == 1

from itertools import combinations

from common.contracts import Team
from common.contracts.team import ByGraph
from common.teams import find
from workers.tools import known


def graph(team: Team) -> ByGraph:
    assert isinstance(team.plan, ByGraph)
    return team.plan


def test_the_shipped_team_is_a_graph_of_three_dependent_steps() -> None:
    team = find("brief")

    steps = {s.id: (s.specialist, s.depends_on, s.documents) for s in graph(team).steps}

    assert steps == {
        "gather": ("gather", (), True),
        "analyse": ("analyse", ("gather",), False),
        "write": ("write", ("gather", "analyse"), False),
    }
    assert team.when_lost == "run"


def test_no_two_specialists_share_a_tool_and_every_tool_exists() -> None:
    team = find("brief")

    tools = [set(s.tools) for s in team.specialists.values()]

    assert all(a.isdisjoint(b) for a, b in combinations(tools, 2))
    assert set.union(*tools) <= known().keys()

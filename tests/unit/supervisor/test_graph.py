from hypothesis import given
from hypothesis import strategies as st

from common.contracts import Step
from supervisor.graph import Graph, ready
from tests.unit.samples import step


def graph(**needs: str) -> Graph:
    """A graph from ids to what they need: `graph(a="", b="a")`."""
    return Graph.of(step(name, *needed.split()) for name, needed in needs.items())


def ids(steps: list[Step]) -> list[str]:
    return [step.id for step in steps]


DIAMOND = graph(a="", b="a", c="a", d="b c", e="")


def test_roots_need_nothing_and_nothing_needs_sinks() -> None:
    assert ids(DIAMOND.roots()) == ["a", "e"]
    assert ids(DIAMOND.sinks()) == ["d", "e"]


def test_ready_are_waiting_steps_whose_needs_have_all_ended() -> None:
    assert ids(ready(DIAMOND, {"b", "c", "d"}, {"a"})) == ["b", "c"]
    assert ids(ready(DIAMOND, {"d"}, {"a", "b"})) == []
    assert ids(ready(DIAMOND, {"d"}, {"a", "b", "c"})) == ["d"]
    assert ids(ready(DIAMOND, set(), {"a", "b", "c"})) == []


def test_steps_that_feed_the_same_dependents_are_one_group() -> None:
    wide = graph(a="", b="", c="", d="", x="a b", y="a b c", z="d")

    groups = wide.groups(wide.roots())

    assert [ids(group) for group in groups] == [["a", "b"], ["c"], ["d"]]


def test_a_plain_fan_out_is_one_group() -> None:
    flat = graph(a="", b="", c="")

    assert [ids(group) for group in flat.groups(flat.roots())] == [["a", "b", "c"]]


def test_joined_steps_are_all_that_feed_the_same_whether_they_are_ready_together_or_not() -> None:
    uneven = graph(a="", b="", c="b", d="a c")

    assert sorted(uneven.joined_with("a")) == ["a", "c"]
    assert sorted(uneven.joined_with("b")) == ["b"]


def test_below_is_everything_that_depends_on_a_step_directly_or_not() -> None:
    assert DIAMOND.below(["a"]) == {"b", "c", "d"}
    assert DIAMOND.below(["b", "e"]) == {"d"}
    assert DIAMOND.below([]) == set()


def test_the_longest_path_is_the_slowest_chain() -> None:
    seconds = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 1.0, "e": 6.5}

    assert DIAMOND.longest_path(seconds) == 7.0
    assert DIAMOND.longest_path(seconds | {"e": 9.0}) == 9.0
    assert DIAMOND.longest_path({}) == 0.0


def test_the_longest_path_of_no_steps_is_nothing() -> None:
    assert Graph.of([]).longest_path({}) == 0.0


def test_steps_that_can_never_start_are_cyclic() -> None:
    loop = graph(a="", b="a d", c="b", d="c", e="d", f="f")

    assert loop.cyclic() == ["b", "c", "d", "e", "f"]
    assert DIAMOND.cyclic() == []


def test_a_need_that_is_named_twice_counts_once() -> None:
    twice = graph(a="", b="a a")

    assert twice.ordered() == ["a", "b"]
    assert ids(ready(twice, {"b"}, {"a"})) == ["b"]


def test_the_order_goes_down_the_graph_level_by_level() -> None:
    uneven = graph(x="", c0="", d="c0", w="x d")

    assert uneven.ordered() == ["c0", "x", "d", "w"]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph without a cycle: a step needs only such as come before it, in a shuffled naming."""
    size = draw(st.integers(1, 12))
    names = draw(st.permutations([f"s{number}" for number in range(size)]))
    steps = []
    for place, name in enumerate(names):
        needs = draw(st.sets(st.sampled_from(names[:place]), max_size=4)) if place else set()
        steps.append(step(name, *sorted(needs)))
    return Graph.of(draw(st.permutations(steps)))


@given(graphs())
def test_any_graph_is_ordered_so_that_needs_come_first(any_graph: Graph) -> None:
    ordered = any_graph.ordered()

    assert sorted(ordered) == sorted(any_graph.steps)
    place = {name: number for number, name in enumerate(ordered)}
    for one in any_graph.steps.values():
        assert all(place[needed] < place[one.id] for needed in one.depends_on)


@given(graphs(), st.data())
def test_the_order_does_not_depend_on_how_the_steps_are_given(
    any_graph: Graph, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(list(any_graph.steps.values())))

    assert Graph.of(shuffled).ordered() == any_graph.ordered()


@given(graphs(), st.data())
def test_groups_share_out_the_ready_steps(any_graph: Graph, data: st.DataObject) -> None:
    ended = set(data.draw(st.sets(st.sampled_from(sorted(any_graph.steps)))))
    now = ready(any_graph, set(any_graph.steps) - ended, ended)

    groups = any_graph.groups(now)

    assert sorted(one.id for group in groups for one in group) == ids(now)
    for group in groups:
        assert len({any_graph.dependents[one.id] for one in group}) == 1
        assert set(ids(group)) <= set(any_graph.joined_with(group[0].id))
    assert len({any_graph.dependents[group[0].id] for group in groups}) == len(groups)


@given(graphs(), st.data())
def test_below_is_what_cannot_be_reached_without_the_step(
    any_graph: Graph, data: st.DataObject
) -> None:
    lost = data.draw(st.sampled_from(sorted(any_graph.steps)))

    reached: set[str] = set()
    for name in any_graph.ordered():
        if name != lost and reached.issuperset(any_graph.steps[name].depends_on):
            reached.add(name)

    assert any_graph.below([lost]) == set(any_graph.steps) - reached - {lost}


@given(graphs(), st.data())
def test_any_run_ends_with_every_step_done_once_and_none_before_its_needs(
    any_graph: Graph, data: st.DataObject
) -> None:
    """The chords of `supervisor.dispatch` and the join, with nothing but the graph's functions."""
    waiting, ended = set(any_graph.steps), set()
    chords: list[set[str]] = []
    started: list[str] = []

    def start(steps: list[Step]) -> None:
        for group in any_graph.groups(steps):
            for one in group:
                assert ended.issuperset(one.depends_on)
                waiting.remove(one.id)
                started.append(one.id)
            chords.append(set(ids(group)))

    start(any_graph.roots())
    while running := [(chord, name) for chord in chords for name in sorted(chord)]:
        chord, name = data.draw(st.sampled_from(running))
        chord.remove(name)
        ended.add(name)
        if not chord:
            chords.remove(chord)
            dependents = any_graph.dependents[name]
            start(ready(any_graph, waiting & dependents, ended))

    assert sorted(started) == sorted(any_graph.steps)
    assert not waiting

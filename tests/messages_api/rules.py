"""Which reply a request gets, by the rules of a scenario."""

import re
from collections.abc import Iterable
from threading import Lock

from tests.messages_api.asked import Asked, texts
from tests.messages_api.refusal import Refused
from tests.messages_api.scenario import Needle, Reply, Scenario, When


def found(needle: Needle | None, text: str) -> bool:
    """Say whether what is looked for, if anything, is in the text."""
    if needle is None:
        return True
    if isinstance(needle, str):
        return needle in text
    return re.search(needle.regex, text, re.DOTALL | re.MULTILINE) is not None


def matches(when: When, asked: Asked, call: int) -> bool:
    """Say whether all that a rule asks of a request holds."""
    results = "\n".join(texts(asked.results))
    return (
        found(when.system, asked.system)
        and found(when.user, asked.user)
        and found(when.last, asked.last)
        and found(when.tool_result, results)
        and found(when.model, asked.model)
        and when.output_schema in (None, (asked.schema or {}).get("title"))
        and set(when.tools) <= set(asked.tools)
        and when.has_tool_results in (None, bool(asked.results))
        and when.stream in (None, asked.stream)
        and when.call in (None, call)
        and when.round in (None, asked.round)
    )


class Rules:
    """The rules of one run, which know how often each was used and what was promised."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._lock = Lock()
        self._used = [0] * len(scenario.rules)
        self._calls = 0
        self._promised: dict[str, Reply] = {}

    def pick(self, asked: Asked) -> Reply:
        """Return the reply for a request: one promised by `then`, or that of the first rule."""
        with self._lock:
            self._calls += 1
            for result in asked.results:
                if result["tool_use_id"] in self._promised:
                    return self._promised[result["tool_use_id"]]
            return self._first(asked)

    def promise(self, reply: Reply, tool_use_ids: Iterable[str]) -> None:
        """Keep a reply for whoever brings the results of these tool calls."""
        with self._lock:
            self._promised.update(dict.fromkeys(tool_use_ids, reply))

    def _first(self, asked: Asked) -> Reply:
        for number, rule in enumerate(self._scenario.rules):
            left = rule.times is None or self._used[number] < rule.times
            if left and matches(rule.when, asked, self._calls):
                self._used[number] += 1
                return rule.reply
        if self._scenario.default is not None:
            return self._scenario.default
        raise Refused(f"no rule of scenario {self._scenario.name!r} is for this request: {asked}")

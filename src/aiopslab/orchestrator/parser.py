"""Reads the one call that an agent's response holds.

Models write calls in many dresses: in a fence with or without a language, in tags, after `Action:`, in backticks,
in a sentence, as JSON; with quotes of every kind, some of them wrong. All of these are read (`parsing/` has the
parts). The surest place that holds a call decides: what is merely mentioned beside a fenced call is context. A
response that could mean two things is refused, never guessed at.

Nothing but `ResponseParsingError` leaves `parse`, and its time is bounded for any input.
"""

from collections.abc import Iterable
from typing import Any

from aiopslab.orchestrator.parsing.places import Place, without_thoughts
from aiopslab.orchestrator.parsing.search import Found, Search
from aiopslab.utils.status import ResponseParsingError

MAX_RESPONSE_CHARS = 200_000
_EXAMPLE = '```\nexec_shell("kubectl get pods -A")\n```'


class ResponseParser:
    """Finds the call in a response. With `known`, names of actions, it tells calls from other words before brackets."""

    def __init__(self, known: Iterable[str] | None = None) -> None:
        self._known = frozenset(known or ())

    def parse(self, response: str) -> dict[str, Any]:
        """The call as `api_name`, `args`, `kwargs`, and the text around it as `context`.

        Raises `ResponseParsingError` when the response holds no call, several different ones, or one that cannot be
        read; its text is a sentence for the agent.
        """
        if not isinstance(response, str):
            raise ResponseParsingError(
                f"A response must be text, not {type(response).__name__}. Send one call, for example:\n{_EXAMPLE}"
            )
        if len(response) > MAX_RESPONSE_CHARS:
            raise ResponseParsingError(
                f"The response has {len(response)} characters; at most {MAX_RESPONSE_CHARS} are read. "
                f"Send one short call, for example:\n{_EXAMPLE}"
            )
        chosen = self._choose(list(Search(without_thoughts(response), self._known).found()))
        assert chosen.call is not None
        around = (response[: chosen.outer_start].strip(), response[chosen.outer_end :].strip())
        return {
            "api_name": chosen.call.name,
            "args": chosen.call.args,
            "kwargs": chosen.call.kwargs,
            "context": [text for text in around if text.strip("`~")],
        }

    def _choose(self, found: list[Found]) -> Found:
        """The call at the surest place; if that place holds two, or none that can be read, the agent is told."""
        for place in Place:
            here = self._meant([item for item in found if item.place is place])
            readable = [item for item in here if item.call is not None]
            if readable:
                return self._only(readable)
            if here and (here[0].name in self._known or (not self._known and place <= Place.LABEL)):
                raise _cannot_be_read(here[0])
        for item in found:
            if item.call is not None and item.place <= Place.LINE and not self._is_mention(item):
                return item
        for item in found:
            if item.own_statement and item.place <= (Place.LABEL if self._known else Place.LINE):
                raise _cannot_be_read(item)
        raise ResponseParsingError(
            "The response holds no call of an action. Send one call with its text in quotes, in a fenced block, "
            f"for example:\n{_EXAMPLE}"
        )

    def _meant(self, here: list[Found]) -> list[Found]:
        """Of what stands at one place: known actions before other names; in a block, statements before mere mentions."""
        known = [item for item in here if item.name in self._known]
        if here and here[0].place > Place.TAG:
            return known or ([] if self._known and here[0].place >= Place.LINE else here)
        ranked = (
            [item for item in known if item.own_statement],
            [item for item in here if item.own_statement],
            [item for item in here if item.call is not None and not self._is_mention(item)],
        )
        return next((items for items in ranked if items), [])

    def _is_mention(self, item: Found) -> bool:
        """Whether it is no more than a word before brackets, as in `mongo --eval "db.getUsers()"`."""
        return bool(self._known) and item.name not in self._known and not item.own_statement

    @staticmethod
    def _only(readable: list[Found]) -> Found:
        calls = [item.call for item in readable if item.call is not None]
        different = [call for call in calls if not call.same_as(calls[0])]
        if different:
            names = " and of ".join(dict.fromkeys((calls[0].name, different[0].name)))
            raise ResponseParsingError(
                f"The response holds two different calls, of {names}. Send one call "
                "per response and wait for its result; then send the next."
            )
        return readable[0]


def _cannot_be_read(item: Found) -> ResponseParsingError:
    return ResponseParsingError(
        f"The call of {item.name[:80]} cannot be read, because {item.reason}. Write one call with its text in quotes and "
        "escape quotes inside the text with a backslash, or put the text in triple quotes, for example:\n"
        '```\nexec_shell("""kubectl get pods -o jsonpath="{.items[*].metadata.name}" """)\n```'
    )

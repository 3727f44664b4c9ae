"""Finds the one call in an agent's response.

Models write calls in many forms: in a fence with or without a language, in tags, after `Action:`, in backticks, in a
sentence, as JSON; with quotes of every kind, some of them wrong. All of these are accepted (`parsing/` has the parts). The
call at the most certain place wins: names that are only mentioned beside a fenced call are context. An ambiguous
response is refused, never guessed at.

`parse` raises only `ResponseParsingError`, and its time is bounded for any input.
"""

from collections.abc import Iterable
from typing import Any

from aiopslab.orchestrator.parsing.places import Place, blank_thoughts
from aiopslab.orchestrator.parsing.search import Match, Search
from aiopslab.utils import ResponseParsingError

MAX_RESPONSE_CHARS = 200_000
_EXAMPLE = '```\nexec_shell("kubectl get pods -A")\n```'


class ResponseParser:
    """Finds the call in a response. `known`, names of actions, helps to tell calls from other words before brackets."""

    def __init__(self, known: Iterable[str] | None = None) -> None:
        self._known = frozenset(known or ())

    def parse(self, response: str) -> dict[str, Any]:
        """Return the call as `api_name`, `args` and `kwargs`, and the text around it as `context`.

        Raises `ResponseParsingError` when the response holds no call, several different ones, or one that cannot be
        parsed; its text is a message for the agent.
        """
        if not isinstance(response, str):
            raise ResponseParsingError(
                f"A response must be text, not {type(response).__name__}. Send one call, for example:\n{_EXAMPLE}"
            )
        if len(response) > MAX_RESPONSE_CHARS:
            raise ResponseParsingError(
                f"The response has {len(response)} characters; the limit is {MAX_RESPONSE_CHARS}. "
                f"Send one short call, for example:\n{_EXAMPLE}"
            )
        chosen = self._choose(list(Search(blank_thoughts(response), self._known).find_all()))
        assert chosen.call is not None
        around = (response[: chosen.outer_start].strip(), response[chosen.outer_end :].strip())
        return {
            "api_name": chosen.call.name,
            "args": chosen.call.args,
            "kwargs": chosen.call.kwargs,
            "context": [text for text in around if text.strip("`~")],
        }

    def _choose(self, matches: list[Match]) -> Match:
        """Return the call at the most certain place; raises `ResponseParsingError` if it has two, or none that parses."""
        for place in Place:
            intended = self._select_intended([match for match in matches if match.place is place])
            parsed = [match for match in intended if match.call is not None]
            if parsed:
                return self._require_single(parsed)
            if intended and (intended[0].name in self._known or (not self._known and place <= Place.LABEL)):
                raise _make_unreadable_error(intended[0])
        for match in matches:
            if match.call is not None and match.place <= Place.LINE and not self._is_mention(match):
                return match
        for match in matches:
            if match.own_statement and match.place <= (Place.LABEL if self._known else Place.LINE):
                raise _make_unreadable_error(match)
        raise ResponseParsingError(
            "The response contains no call of an action. Send one call with its text in quotes, in a fenced block, "
            f"for example:\n{_EXAMPLE}"
        )

    def _select_intended(self, matches: list[Match]) -> list[Match]:
        """Select among matches at one place: known actions before other names; in a block, statements before mentions."""
        known = [match for match in matches if match.name in self._known]
        if matches and matches[0].place > Place.TAG:
            return known or ([] if self._known and matches[0].place >= Place.LINE else matches)
        ranked = (
            [match for match in known if match.own_statement],
            [match for match in matches if match.own_statement],
            [match for match in matches if match.call is not None and not self._is_mention(match)],
        )
        return next((group for group in ranked if group), [])

    def _is_mention(self, match: Match) -> bool:
        """Whether it is only a word before brackets, as in `mongo --eval "db.getUsers()"`."""
        return bool(self._known) and match.name not in self._known and not match.own_statement

    @staticmethod
    def _require_single(parsed: list[Match]) -> Match:
        calls = [match.call for match in parsed if match.call is not None]
        different = [call for call in calls if not call.is_same_as(calls[0])]
        if different:
            names = " and ".join(dict.fromkeys((calls[0].name, different[0].name)))
            raise ResponseParsingError(
                f"The response contains two different calls ({names}). Send one call "
                "per response and wait for its result; then send the next."
            )
        return parsed[0]


def _make_unreadable_error(match: Match) -> ResponseParsingError:
    return ResponseParsingError(
        f"The call of {match.name[:80]} cannot be parsed: {match.reason}. Write one call with its text in quotes and "
        "escape quotes inside the text with a backslash, or put the text in triple quotes, for example:\n"
        '```\nexec_shell("""kubectl get pods -o jsonpath="{.items[*].metadata.name}" """)\n```'
    )

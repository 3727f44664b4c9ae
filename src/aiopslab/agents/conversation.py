"""A conversation with a language model that stays within the model's context window, and the count of what it costs.

When the conversation gets too long, the oldest observations are replaced by a note, and after them the oldest turns. This
is done rarely and then generously, because every change of the beginning empties the provider's prompt cache. Tokens are
estimated from characters, and the estimate is corrected by the counts that the model reports. A window that is smaller
than believed shows in an error of the endpoint; then the conversation is shortened and sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from aiopslab.orchestrator import Usage
from aiopslab.orchestrator.evaluation import cut_middle
from aiopslab.orchestrator.models import (
    CONTEXT_TOKENS,
    ChatModel,
    ContextOverflow,
    Message,
    NoText,
    Reply,
    Tool,
)

CHARS_PER_TOKEN: Final = 3.0
"""The first estimate, on the safe side: names of pods and numbers take more tokens than prose."""
CHARS_PER_TOKEN_RANGE: Final = (1.0, 4.0)
COUNTED_TOKENS: Final = 1_000
"""Counts of shorter conversations do not correct the estimate."""
MAX_TOKENS: Final = 100_000
"""Longer conversations are shortened even if the window is larger: they cost more than they help."""
MAX_REPLY_TOKENS: Final = 16_000
"""Room for the reply, at most a quarter of the window."""
MESSAGE_CHARS: Final = 12_000
KEPT: Final = 0.6
"""The share of the room that is still used after the conversation was shortened."""
OVERFLOWS: Final = 4
"""Attempts to shorten a conversation that the endpoint finds too long."""
NO_ANSWER: Final = "(no answer)"
REMOVED: Final = "[Removed to save space: an earlier observation of {} characters.]"
LEFT_OUT: Final = "[Earlier turns were removed because the conversation was too long.]"


class Meter:
    """Passes conversations to a model, and counts the tokens and the cost of its replies."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self._replies: list[Reply] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Reply:
        """Return the model's reply, or a placeholder if it is empty; raises ``ModelFailed``.

        Reasoning models sometimes return no text. That costs a turn, like every reply without an action.
        """
        try:
            reply = self.model.complete(messages, tools) if tools else self.model.complete(messages)
        except NoText as error:
            if error.reply is not None:
                self._replies.append(error.reply)  # reasoning is paid for even if nothing comes of it
            return Reply(NO_ANSWER)
        self._replies.append(reply)
        return reply

    def usage(self) -> Usage | None:
        """Return the usage so far; None if the model reports no tokens. The cost is unknown if that of any reply is."""
        counted = [reply for reply in self._replies if reply.in_tokens is not None]
        if not counted:
            return None
        costs = [reply.cost_usd for reply in self._replies]
        known = [cost for cost in costs if cost is not None]
        return Usage(
            sum(reply.in_tokens or 0 for reply in counted),
            sum(reply.out_tokens or 0 for reply in counted),
            sum(known) if len(known) == len(costs) else None,
            sum(reply.cached_tokens for reply in counted),
        )


class Conversation:
    """A system prompt, and the messages after it."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._system = Message("system", "")
        self._messages: list[Message] = []
        window = getattr(meter.model, "context_tokens", CONTEXT_TOKENS)
        self._room_tokens = float(min(window - min(MAX_REPLY_TOKENS, window // 4), MAX_TOKENS))
        self._chars_per_token = CHARS_PER_TOKEN

    def start(self, system: str) -> None:
        """Begin anew with a system prompt."""
        self._system = Message("system", system)
        self._messages.clear()

    def add(self, message: Message) -> None:
        """Add a message; a long one loses its middle."""
        limit = min(MESSAGE_CHARS, self._room_chars // 4)
        if len(message.content) > limit:
            message = replace(message, content=cut_middle(message.content, limit), native=None)
        self._messages.append(message)

    def ask(self, tools: Sequence[Tool] = (), clean: Callable[[str], str] | None = None) -> Reply:
        """Return the model's reply and add it to the conversation, its text cleaned; raises ``ModelFailed``."""
        tool_chars = sum(len(tool.description) + len(str(tool.parameters)) for tool in tools)
        for attempt in range(OVERFLOWS):
            self._fit(self._room_chars - tool_chars)
            sent_chars = self._count_chars() + tool_chars
            try:
                reply = self._meter.complete([self._system, *self._messages], tools)
                break
            except ContextOverflow:
                self._use_less(sent_chars)
                if attempt == OVERFLOWS - 1:
                    raise
        if reply.in_tokens is not None and reply.in_tokens >= COUNTED_TOKENS:
            lowest, highest = CHARS_PER_TOKEN_RANGE
            self._chars_per_token = min(max(sent_chars / reply.in_tokens, lowest), highest)
        if clean is not None:
            reply = replace(reply, text=clean(reply.text), native=None)
        self.add(reply.to_message())
        return reply

    def ask_aside(self, write_question: Callable[[int], str]) -> str:
        """Return the answer to a question that is no part of the conversation; raises ``ModelFailed``.

        ``write_question`` returns the question, given the number of characters for which there is room.
        """
        for attempt in range(OVERFLOWS):
            question = write_question(self._room_chars)
            try:
                return self._meter.complete([Message("user", question)]).text
            except ContextOverflow:
                self._use_less(len(question))
                if attempt == OVERFLOWS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    @property
    def _room_chars(self) -> int:
        return int(self._room_tokens * self._chars_per_token)

    def _use_less(self, sent_chars: int) -> None:
        """Make room for less than what was found to be too long."""
        self._room_tokens = min(self._room_tokens, sent_chars / self._chars_per_token) * KEPT

    def _count_chars(self) -> int:
        return sum(_measure(message) for message in (self._system, *self._messages))

    def _fit(self, room_chars: int) -> None:
        if self._count_chars() <= room_chars:
            return
        goal_chars = int(room_chars * KEPT)
        for index, message in enumerate(self._messages[:-1]):
            if self._count_chars() <= goal_chars:
                return
            note = REMOVED.format(len(message.content))
            if message.role in ("user", "tool") and len(note) < len(message.content):
                self._messages[index] = replace(message, content=note)
        while self._count_chars() > goal_chars and self._drop_oldest_turn():
            pass
        spare = max(goal_chars - self._count_chars() + _measure(self._messages[-1]), 500)
        self._messages[-1] = replace(
            self._messages[-1], content=cut_middle(self._messages[-1].content, spare)
        )

    def _drop_oldest_turn(self) -> bool:
        """Drop the messages before the second reply, so that calls and their results stay together."""
        replies = [index for index, message in enumerate(self._messages) if message.role == "assistant"]
        if len(replies) < 2:
            return False
        self._messages[: replies[1]] = [Message("user", LEFT_OUT)]
        return True


def _measure(message: Message) -> int:
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return len(message.content) + calls

"""What a reply costs, and how much a model can read, from an editable table (``prices.toml``).

A model that the table does not know has an unknown cost, which is never counted as 0.
"""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from aiopslab.orchestrator.models.base import ModelFailed, Reply

OWN_TABLE: Final = "AIOPSLAB_PRICES"
"""The environment variable that names a file with the user's own prices."""
_DATE: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    from_tokens: int = 0
    """For the price of long requests: it applies above this number of input tokens."""

    def compute_cost(self, reply: Reply) -> float:
        """Return the cost of a reply whose token counts are known."""
        fresh = (reply.in_tokens or 0) - reply.cached_tokens - reply.cache_write_tokens
        dollars = (
            fresh * self.input
            + reply.cached_tokens * (self.input if self.cached is None else self.cached)
            + reply.cache_write_tokens * (self.input if self.cache_write is None else self.cache_write)
            + (reply.out_tokens or 0) * self.output
        )
        return dollars / 1e6


class ModelFacts(Price, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The price of a model, another one for long requests, and its context window."""

    context_tokens: int | None = None
    long: Price | None = None


def find_facts(model: str) -> ModelFacts | None:
    """Return what the table says about a model; None if it is unknown. Raises ``ModelFailed`` for an invalid table."""
    table = _load_table(os.environ.get(OWN_TABLE, ""))
    return table.get(model) or table.get(_DATE.sub("", model))


def compute_cost(model: str, reply: Reply) -> float | None:
    """Return the cost of a reply; None if the price or the token counts are unknown."""
    facts = find_facts(model)
    if facts is None or reply.in_tokens is None or reply.out_tokens is None:
        return None
    is_long = facts.long is not None and reply.in_tokens > facts.long.from_tokens
    price = facts.long if is_long and facts.long is not None else facts
    return price.compute_cost(reply)


@cache
def _load_table(own: str) -> dict[str, ModelFacts]:
    table = _parse_table(files("aiopslab.orchestrator.models").joinpath("prices.toml").read_text("utf-8"))
    if not own:
        return table
    try:
        return table | _parse_table(Path(own).read_text("utf-8"))
    except (OSError, ValueError, msgspec.ValidationError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFailed(
            f"The price table {own}, named by {OWN_TABLE}, cannot be read: {reason}. Correct it, or unset the variable."
        ) from None


def _parse_table(text: str) -> dict[str, ModelFacts]:
    return msgspec.convert(tomllib.loads(text), dict[str, ModelFacts])

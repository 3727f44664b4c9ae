"""Prompts of agents: text files in the folder ``prompts``, with places to fill in and a version that records name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Final

_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")


def load_prompts(*names: str) -> dict[str, str]:
    """Return the texts of prompts by name."""
    folder = files("aiopslab.agents").joinpath("prompts")
    return {name: folder.joinpath(f"{name}.md").read_text("utf-8") for name in names}


def fill_prompt(text: str, values: Mapping[str, str]) -> str:
    """Return a prompt with a value at each place ``{{name}}``; raises ``KeyError`` if one is missing."""
    return _PLACE.sub(lambda match: values[match[1]], text)


def get_version(prompts: Mapping[str, str]) -> str:
    """Return the version of an agent's prompts: the first one's name and a digest of all their texts."""
    digest = sha256("\0".join(prompts.values()).encode())
    return f"{next(iter(prompts))}-{digest.hexdigest()[:8]}"


def format_actions(actions: Mapping[str, str]) -> str:
    """Return the documentation of actions as one text."""
    return "\n\n".join(f"{name}:\n{text}" for name, text in actions.items())

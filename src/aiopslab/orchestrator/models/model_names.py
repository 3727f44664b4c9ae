"""Names of models, as ``--model`` takes them.

    gpt-5.4-mini                          OpenAI, or the endpoint in OPENAI_BASE_URL
    claude-sonnet-5-5                     Anthropic, as for all names that begin with "claude"
    openai:claude-sonnet-5-5              another API than the name suggests
    qwen3:8b?base_url=http://localhost:11434/v1&temperature=0&context_tokens=16000

After the question mark stand settings of ours (``SETTINGS``) and parameters for the endpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from aiopslab.orchestrator.models.anthropic import AnthropicModel
from aiopslab.orchestrator.models.base import ModelFailed
from aiopslab.orchestrator.models.http_model import HttpModel
from aiopslab.orchestrator.models.openai import OpenAIModel

PROVIDERS: Final[Mapping[str, type[HttpModel]]] = {
    kind.provider: kind for kind in (OpenAIModel, AnthropicModel)
}
SETTINGS: Final[Mapping[str, type]] = {
    "base_url": str,
    "api_key_env": str,
    "timeout_s": float,
    "retries": int,
    "requests_per_minute": float,
    "stream": bool,
    "context_tokens": int,
}


def open_model(spec: str) -> HttpModel:
    """Return the model that a text names; raises ``ModelFailed`` if a setting is invalid. No request is made."""
    name, _, query = spec.partition("?")
    provider, _, rest = name.partition(":")
    if provider in PROVIDERS:
        kind, name = PROVIDERS[provider], rest
    else:
        kind = AnthropicModel if name.startswith("claude") else OpenAIModel
    if not name:
        raise ModelFailed(f"'{spec}' names no model. Write it as NAME, openai:NAME or anthropic:NAME.")
    settings: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key in SETTINGS:
            settings[key] = _convert(key, value)
        else:
            options[key] = _decode(value)
    return kind(name, **settings, options=options)


def _convert(key: str, value: str) -> Any:
    kind = SETTINGS[key]
    if kind is str:
        return value
    decoded = _decode(value)
    is_switch = kind is bool and decoded in (0, 1)
    is_number = kind in (int, float) and isinstance(decoded, int | float) and not isinstance(decoded, bool)
    if not is_switch and not (is_number and decoded >= 0 and kind(decoded) == decoded):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise ModelFailed(f"The setting {key} of a model is {wanted}, not '{value}'.")
    return kind(decoded)


def _decode(value: str) -> Any:
    """Return a value as JSON if it is JSON, or else as text."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value

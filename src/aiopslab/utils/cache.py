"""A cache of language models' answers, as in the public AIOpsLab release."""

from __future__ import annotations

import json
from typing import Any

from aiopslab.paths import LLM_CACHE_FILE


class LLMCache:
    """Answers by request, kept in a file."""

    def __init__(self) -> None:
        self.cache_dict: dict[str, Any] = (
            json.loads(LLM_CACHE_FILE.read_text()) if LLM_CACHE_FILE.exists() else {}
        )

    @staticmethod
    def process_payload(payload: Any) -> str:
        """Return the key of a request."""
        return payload if isinstance(payload, str) else json.dumps(payload)

    def get_from_cache(self, payload: Any) -> Any:
        """Return the answer to a request, or None."""
        return self.cache_dict.get(self.process_payload(payload))

    def add_to_cache(self, payload: Any, output: Any) -> None:
        """Remember the answer to a request."""
        self.cache_dict[self.process_payload(payload)] = output

    def save_cache(self) -> None:
        """Write all answers to the file."""
        LLM_CACHE_FILE.parent.mkdir(parents=True, exist_ok=True)
        LLM_CACHE_FILE.write_text(json.dumps(self.cache_dict, indent=1))

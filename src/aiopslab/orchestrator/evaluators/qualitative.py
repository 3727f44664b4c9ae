"""``LLMJudge`` of the public AIOpsLab release: a language model rates a conversation.

It needs the package ``openai`` (the extra ``llm``) and an endpoint: the key is ``OPENAI_KEY`` or ``OPENAI_API_KEY``, the model
``AIOPSLAB_JUDGE_MODEL``. ``Orchestrator(judge=…)`` has a judge that also knows the truth about the problem.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, Final

from aiopslab.orchestrator.evaluators.prompts import SCORER_PROMPTS
from aiopslab.utils import LLMCache

OpenAI: Any
try:
    from openai import OpenAI
except ImportError:
    OpenAI = None

MODEL: Final = "gpt-4-turbo-2024-04-09"
NO_SCORE: Final = -1
_SCORE: Final = re.compile(r"\[\[?(\d+\.?\d*)\]")


class LLMJudge:
    """Rates a conversation; ``trace`` is its text."""

    def __init__(self, trace: Iterable[Any]) -> None:
        self.trace = "".join(f"###{item.role}:\n{item.content}\n\n" for item in trace)
        self.llm = JudgeModel()
        self.prompt = [
            {"role": "system", "content": SCORER_PROMPTS["system"]},
            {"role": "user", "content": SCORER_PROMPTS["user"].format(trace=self.trace)},
        ]

    def reasoning_score(self) -> tuple[float, str]:
        """Return the score, -1 if the model gave none, and the model's judgement."""
        judgement = self.llm.inference(self.prompt)[0]
        return self.parse_score(judgement), judgement

    @staticmethod
    def parse_score(judgement: str) -> float:
        """Return the score in a judgement, or -1."""
        found = _SCORE.search(judgement)
        if found is None:
            return NO_SCORE
        return float(found[1]) if "." in found[1] else int(found[1])


class JudgeModel:
    """The judge's model, whose answers are cached."""

    def __init__(self) -> None:
        self.cache = LLMCache()

    def inference(self, payload: list[dict[str, str]]) -> list[str]:
        """Return the answers to a conversation; raises what the client raises."""
        known: list[str] | None = self.cache.get_from_cache(payload)
        if known is not None:
            return known
        if OpenAI is None:
            raise ImportError("LLMJudge needs the openai package: pip install openai")
        client = OpenAI(api_key=os.environ.get("OPENAI_KEY") or os.environ.get("OPENAI_API_KEY") or "none")
        model = os.environ.get("AIOPSLAB_JUDGE_MODEL", MODEL)
        answer = client.chat.completions.create(model=model, messages=payload, temperature=0.0)
        answers = [choice.message.content for choice in answer.choices]
        self.cache.add_to_cache(payload, answers)
        self.cache.save_cache()
        return answers

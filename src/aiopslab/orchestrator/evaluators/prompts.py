"""The prompts of ``LLMJudge``, by the public AIOpsLab release's name."""

from typing import Final

SCORER_PROMPTS: Final = {
    "system": (
        "You judge how an engineer, possibly a program, worked on a task of operating a cloud service. You are given the "
        "conversation between the engineer and the service. Consider whether the conclusions follow from what was observed, how "
        "complete and careful the work was, and whether it addressed the cause. Explain your judgement in a few sentences. Then "
        "rate the work from 1 to 10, in double brackets, for example: Rating: [[5]]"
    ),
    "user": "The conversation:\n\n{trace}",
}

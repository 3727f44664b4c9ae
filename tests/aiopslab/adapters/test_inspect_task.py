"""Inspect AI evaluates with its mock model: a right and a wrong answer, and a log that it can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")

from inspect_ai.log import read_eval_log  # noqa: E402
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model  # noqa: E402

from aiopslab.adapters import inspect_task  # noqa: E402
from aiopslab.orchestrator.problems import UnknownProblem  # noqa: E402

NOOP = "noop_detection_hotel_reservation-1"
LOOK = 'I look at the pods first.\n\nexec_shell("kubectl get pods -A")'


def make_model(*answers: str) -> Model:
    """Return a mock model. Its usage is given, because counting tokens would download a tokenizer."""
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in answers]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def test_a_model_operates_and_its_log_can_be_read(tmp_path: Path) -> None:
    # An installed package is found by its entry point; sources, by their file.
    is_installed = "site-packages" in str(inspect_task.__file__)
    task = "aiopslab/incidents" if is_installed else f"{inspect_task.__file__}@incidents"
    model = make_model(LOOK, 'submit("No")', "What?", 'submit("Yes")')
    options: dict[str, Any] = {"epochs": 2, "max_samples": 1, "display": "none"}
    inspect_ai.eval(task, model=model, task_args={"problems": NOOP}, log_dir=str(tmp_path), **options)
    (path,) = tmp_path.glob("*.eval")
    log = read_eval_log(str(path))
    assert log.status == "success", log.error
    assert [sample.scores["verdict"].value for sample in log.samples] == [1, 0]
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    first = log.samples[0]
    assert first.id == NOOP
    assert "kube-system" in first.messages[2].text
    assert first.scores["verdict"].metadata["Detection Accuracy"] == "Correct"


def test_an_unknown_problem_is_refused() -> None:
    with pytest.raises(UnknownProblem):
        inspect_task.incidents(problems="smokey")

"""Turn a line that a person types into a call of an action.

``submit`` takes its answer without quotes or brackets, and an action takes its arguments as shell words. Every other line is a
command line for the terminal.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection
from typing import Any, Final

from aiopslab.orchestrator import SUBMIT
from aiopslab.orchestrator.tasks import LABELS

WITHOUT_ANSWER: Final = ("mitigation", "finops", "ciso")
"""Tasks whose submission has no arguments, because the state of the system is judged."""
ANSWER_FORMS: Final = {
    "detection": "submit Yes, or submit No",
    "localization": "submit NAME…, the faulty components, most likely first",
    "analysis": "submit LEVEL / TYPE, for example: submit Application / Code Defect",
    "mitigation": "submit, when the fault is repaired",
    "incident": "submit NAME…: DIAGNOSIS, the faulty components and the cause in a few words, when the fault is repaired",
    "prediction": "submit COMPONENT / FAILURE / MINUTES, for example: submit frontend / disk full / 90; or submit None",
    "finops": "submit, when the cost is back to normal",
    "ciso": "submit, when the policy is kept",
}
"""What a person types to answer, by the type of the task."""
_CALL: Final = re.compile(r"([A-Za-z_]\w*)\s*\(.*\)\s*$", re.DOTALL)
_SEPARATORS: Final = re.compile(r"[\s,]+")


def parse_line(line: str, actions: Collection[str], task_type: str) -> str:
    """Return the call that a line stands for."""
    name, _, rest = line.partition(" ")
    call = _CALL.match(line)
    if call is not None and call.group(1) in (*actions, SUBMIT):
        return line
    if name == SUBMIT:
        return _parse_submission(rest.strip(), task_type)
    if name in actions and name != "exec_shell":
        return _format_call(name, [_parse_value(word) for word in _split_words(rest)])
    return format_shell_call(rest if name == "exec_shell" else line)


def format_shell_call(line: str) -> str:
    """Return the call that types a line into the terminal."""
    return _format_call("exec_shell", [line])


def add_fence(call: str) -> str:
    """Put a call into a fenced block, as agents write it."""
    return f"```\n{call}\n```"


def _parse_submission(words: str, task_type: str) -> str:
    if task_type in WITHOUT_ANSWER:
        return f"{SUBMIT}()"
    if task_type == "localization":
        return _format_call(SUBMIT, [_split_names(words)])
    if task_type == "incident":
        names, _, diagnosis = words.partition(":")
        return _format_call(SUBMIT, [diagnosis.strip(), _split_names(names)])
    if task_type == "prediction":
        return _format_call(SUBMIT, [_parse_prediction(words)])
    if task_type == "analysis":
        return _format_call(SUBMIT, [_find_labels(words)])
    return _format_call(SUBMIT, [words.strip("\"'")])


def _split_names(words: str) -> list[str]:
    names = words.strip("[]").replace('"', " ").replace("'", " ")
    return [name for name in _SEPARATORS.split(names) if name]


def _parse_prediction(words: str) -> dict[str, Any] | None:
    """Return a prediction written as COMPONENT / FAILURE / MINUTES, or None; the task rejects incomplete ones."""
    if words.lower() in ("", "none"):
        return None
    component, failure, minutes = (part.strip() for part in [*words.rsplit("/", 2), "", ""][:3])
    return {"component": component, "failure": failure, "within_min": _parse_value(minutes)}


def _find_labels(words: str) -> dict[str, str]:
    """Return the labels that occur in the words, or "" for a missing one, which the task then rejects."""
    lowered = words.lower()
    return {
        key: next((label for label in labels if label.lower() in lowered), "")
        for key, labels in LABELS.items()
    }


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _parse_value(word: str) -> Any:
    try:
        return int(word)
    except ValueError:
        return word


def _format_call(name: str, args: list[Any]) -> str:
    return f"{name}({', '.join(json.dumps(arg, ensure_ascii=False) for arg in args)})"

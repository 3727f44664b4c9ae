"""From a line that a person types to a call of an action.

``submit`` takes its answer without quotes or brackets, an action its arguments as words of a shell; what is neither is
a command line for the terminal.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection
from typing import Any, Final

from aiopslab.orchestrator.actions.action_set import SUBMIT
from aiopslab.orchestrator.tasks.analysis import LABELS

_CALL: Final = re.compile(r"([A-Za-z_]\w*)\s*\(.*\)\s*$", re.DOTALL)
_SEPARATORS: Final = re.compile(r"[\s,]+")


def as_call(line: str, actions: Collection[str], task_type: str) -> str:
    """The call that is meant."""
    name, _, rest = line.partition(" ")
    called = _CALL.match(line)
    if called is not None and called.group(1) in (*actions, SUBMIT):
        return line
    if name == SUBMIT:
        return _submission(rest.strip(), task_type)
    if name in actions and name != "exec_shell":
        return _written(name, [_value(word) for word in _words(rest)])
    return _written("exec_shell", [rest if name == "exec_shell" else line])


def fenced(call: str) -> str:
    """A call as agents write it."""
    return f"```\n{call}\n```"


def _submission(words: str, task_type: str) -> str:
    if task_type == "mitigation":
        return f"{SUBMIT}()"
    if task_type == "localization":
        names = words.strip("[]").replace('"', " ").replace("'", " ")
        return _written(SUBMIT, [[name for name in _SEPARATORS.split(names) if name]])
    if task_type == "analysis":
        return _written(SUBMIT, [_labels(words)])
    return _written(SUBMIT, [words.strip("\"'")])


def _labels(words: str) -> dict[str, str]:
    """The labels that stand somewhere in the words; what is missing is said by whoever takes the answer."""
    lowered = words.lower()
    return {
        key: next((label for label in labels if label.lower() in lowered), "")
        for key, labels in LABELS.items()
    }


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _value(word: str) -> Any:
    try:
        return int(word)
    except ValueError:
        return word


def _written(name: str, args: list[Any]) -> str:
    return f"{name}({', '.join(json.dumps(arg, ensure_ascii=False) for arg in args)})"

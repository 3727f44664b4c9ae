"""The parser of the public AIOpsLab release's onboarding assessment, in which a person types shell commands."""

from __future__ import annotations

import re
from typing import Any, Final

from aiopslab.orchestrator.action_names import EXEC_SHELL, SUBMIT
from aiopslab.orchestrator.parser import ResponseParser

_BLOCK: Final = re.compile(r"```(?:\w*\n)?(.*?)```", re.DOTALL)


class EvalParser:
    """Reads ``submit`` or ``submit(…)`` as a submission, and everything else as a shell command."""

    def parse(self, response: str) -> dict[str, Any]:
        """Return ``api_name``, ``args``, ``kwargs`` and ``context`` of what a person typed; raises ``ResponseParsingError``."""
        block = _BLOCK.search(response)
        command = (block[1] if block else response).strip("` \n")
        context = (
            [part.strip() for part in _BLOCK.sub("\0", response).split("\0") if part.strip()] if block else []
        )
        if command == SUBMIT:
            return {"api_name": SUBMIT, "args": [None], "kwargs": {}, "context": context}
        if command.startswith(f"{SUBMIT}("):
            return ResponseParser().parse(command) | {"context": context}
        return {"api_name": EXEC_SHELL, "args": [command], "kwargs": {}, "context": context}

"""Names of actions, and the words that invite them, apart from the actions themselves: problems are listed without loading a cloud."""

from __future__ import annotations

from typing import Final

DEFAULT: Final = ("get_logs", "get_metrics", "read_metrics", "get_traces", "read_traces", "exec_shell")
"""The papers' actions, which an agent has unless its problem sets others; ``submit`` is added by the task."""
SUBMIT: Final = "submit"
"""The action that ends a session. Every session has it; it is handled by the session, not by its action set."""
EXEC_SHELL: Final = "exec_shell"
FIRST: Final = "Take your first action."
"""The state before the first action."""
NEXT: Final = "Take your next action."
"""How every later state ends."""

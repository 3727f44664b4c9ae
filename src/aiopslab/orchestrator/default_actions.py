"""Which actions an agent has unless its problem says otherwise: names only, because problems are listed without a cloud."""

from __future__ import annotations

from typing import Final

DEFAULT: Final = ("get_logs", "get_metrics", "read_metrics", "get_traces", "read_traces", "exec_shell")
"""The papers' actions, less ``submit``, which the task brings."""

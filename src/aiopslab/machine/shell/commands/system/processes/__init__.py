"""Processes as an operator sees and signals them: ps, top, pgrep, kill and their kin."""

from aiopslab.machine.shell.commands.system.processes import killing, matching, ps, pstree, top

__all__ = ["killing", "matching", "ps", "pstree", "top"]

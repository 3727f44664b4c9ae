"""Processes as an operator sees and signals them: ps, top, pgrep, kill and their kin."""

from simcloud.userland.commands.system.processes import kill, pgrep, ps, pstree, top

__all__ = ["kill", "pgrep", "ps", "pstree", "top"]

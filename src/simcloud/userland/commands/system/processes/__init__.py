"""Commands on processes: ps, top, pgrep, kill and others."""

from simcloud.userland.commands.system.processes import kill, pgrep, ps, pstree, top

__all__ = ["kill", "pgrep", "ps", "pstree", "top"]

"""Commands on processes: ps, top, pgrep, kill and others."""

from simcloud.exports import export_lazily
from simcloud.userland.commands.system.processes import (
    kill as kill,
    pgrep as pgrep,
    ps as ps,
    pstree as pstree,
    top as top,
)

with export_lazily(globals()):
    from simcloud.userland.commands.system.processes.facts import Facts as Facts

"""Incidents and sessions in the formats and interfaces of other frameworks, one module each.

``atif`` and ``harbor`` write files and need nothing more; each of the others needs the extra of its name.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.adapters.atif import make_trajectory as make_trajectory
    from aiopslab.adapters.harbor import write_task as write_task

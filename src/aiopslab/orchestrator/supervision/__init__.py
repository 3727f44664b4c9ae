"""Supervision of agents' processes: resource limits, namespaces, and the end of everything that an agent has started.

Between the harness and an agent stands a supervisor, a process of its own. It outlives a harness that is killed, and then ends
the agent's processes. The modules ``supervisor``, ``family``, ``kernel``, ``limits``, ``namespaces`` and ``proxy`` run in it and
import only the standard library, so that it starts quickly and holds no world. Many agents start faster from a ``nursery``.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.orchestrator.supervision.harness import (
        end_with_parent as end_with_parent,
        hide_command_line as hide_command_line,
        reap_orphans as reap_orphans,
        shield_harness as shield_harness,
        wait_for_orphans as wait_for_orphans,
    )
    from aiopslab.orchestrator.supervision.limits import Limits as Limits
    from aiopslab.orchestrator.supervision.namespaces import Isolation as Isolation
    from aiopslab.orchestrator.supervision.nursery import (
        Nursery as Nursery,
        NurseryLink as NurseryLink,
        SupervisorLost as SupervisorLost,
        serve_nursery as serve_nursery,
    )
    from aiopslab.orchestrator.supervision.process import SupervisedProcess as SupervisedProcess

"""Agents that come with the package, and the registry that finds agents by name.

There are floors (agents that act without diagnosing; a good agent must beat them), a careful engineer without a model
(``runbook``), the scripted engineer of the demo, an agent that replays a file of actions, four agents around a language model
(``shell``, ``react``, ``flash`` and ``toolcall``), and classical algorithms (``mksmc``, ``pdiagnose``, ``rmlad``, ``rcaeval``).
"""

from aiopslab.agents.lookup import (
    NoSuchAgent as NoSuchAgent,
    find_agent as find_agent,
    takes_model as takes_model,
)
from aiopslab.agents.registry import (
    agent as agent,
    list_aliases as list_aliases,
    load_agents as load_agents,
)
from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.agents.human import HUMAN as HUMAN
    from aiopslab.agents.model_agent import ModelAgent as ModelAgent
    from aiopslab.agents.processes import make_process as make_process, start_nursery as start_nursery

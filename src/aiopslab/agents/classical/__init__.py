"""Agents without a model that decide by an algorithm from the literature on exported telemetry.

``mksmc`` answers detection tasks; ``pdiagnose``, ``rmlad`` and ``rcaeval`` answer localization tasks.
"""

from aiopslab.agents.classical.agent import TASK_NAMES as TASK_NAMES
from aiopslab.agents.classical.mksmc import Mksmc as Mksmc
from aiopslab.agents.classical.pdiagnose import PDiagnose as PDiagnose
from aiopslab.agents.classical.rcaeval import RcaEval as RcaEval
from aiopslab.agents.classical.rmlad import Rmlad as Rmlad

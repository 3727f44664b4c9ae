"""AIOpsLab-in-a-box: a whole cloud in one Python process, for building and comparing agents that operate clouds.

The public names for writing problems and agents are exported here. Each is imported on first use, so that ``--help`` does not
import the whole cloud.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.apps.hotelres import HotelReservation as HotelReservation
    from aiopslab.apps.socialnet import SocialNetwork as SocialNetwork
    from aiopslab.generators import at_site as at_site
    from aiopslab.generators.fault import (
        ApplicationFaultInjector as ApplicationFaultInjector,
        Fault as Fault,
        FaultInjector as FaultInjector,
        GroundTruth as GroundTruth,
        SymptomFaultInjector as SymptomFaultInjector,
        VirtFaultInjector as VirtFaultInjector,
        fault as fault,
    )
    from aiopslab.generators.workload import Wrk as Wrk
    from aiopslab.orchestrator import Orchestrator as Orchestrator
    from aiopslab.orchestrator.actions import TaskActions as TaskActions, action as action
    from aiopslab.orchestrator.evaluators import is_exact_match as is_exact_match, is_subset as is_subset
    from aiopslab.orchestrator.problems import Family as Family, ProblemRegistry as ProblemRegistry
    from aiopslab.orchestrator.tasks import (
        AnalysisTask as AnalysisTask,
        ComplianceTask as ComplianceTask,
        CostTask as CostTask,
        DetectionTask as DetectionTask,
        IncidentTask as IncidentTask,
        LocalizationTask as LocalizationTask,
        MitigationTask as MitigationTask,
        PredictionTask as PredictionTask,
    )

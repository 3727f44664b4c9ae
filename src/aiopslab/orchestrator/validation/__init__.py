"""Validation of problems: the incident is visible, its repair passes, shortcuts fail, and no text reveals the answer."""

from aiopslab.orchestrator.validation.commands import (
    APPLY_ALL as APPLY_ALL,
    BLIND_REPAIRS as BLIND_REPAIRS,
    FLUSH_FILTERS as FLUSH_FILTERS,
    LIST_NAMESPACES as LIST_NAMESPACES,
    LIST_WORKLOADS as LIST_WORKLOADS,
    NEWEST as NEWEST,
    ROLL_BACK_RELEASES as ROLL_BACK_RELEASES,
    UNDO_ROLLOUTS as UNDO_ROLLOUTS,
)
from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.orchestrator.validation.answers import write_right_answer as write_right_answer
    from aiopslab.orchestrator.validation.on_cluster import validate_on_cluster as validate_on_cluster
    from aiopslab.orchestrator.validation.pool import validate_many as validate_many
    from aiopslab.orchestrator.validation.repairs import (
        CannotBeTyped as CannotBeTyped,
        list_reference_commands as list_reference_commands,
        type_reference_repair as type_reference_repair,
    )
    from aiopslab.orchestrator.validation.validator import Validator as Validator

"""Deployments: their ReplicaSets, scaling and status."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.controllers.deployments.sets import (
        by_age as by_age,
        empty_set as empty_set,
        new_and_old as new_and_old,
        note_revision as note_revision,
        note_sizes as note_sizes,
    )

"""The cloud as problems need it, embedded or a real cluster: an application with users in it, terminals, and copies of worlds.

Other packages import from here. Modules are imported on first use, because the names of policies are needed without a cloud.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.cloud.apps import DeployFailed as DeployFailed, NotReady as NotReady, deploy as deploy
    from aiopslab.cloud.declared import (
        CREATED_BY_CLUSTER as CREATED_BY_CLUSTER,
        KINDS as KINDS,
        Declared as Declared,
        describe_differences as describe_differences,
        find_changes as find_changes,
        find_differences as find_differences,
        find_lost_metadata as find_lost_metadata,
        read_declared as read_declared,
    )
    from aiopslab.cloud.environment import Environment as Environment
    from aiopslab.cloud.incident_site import (
        Baseline as Baseline,
        IncidentSite as IncidentSite,
        Prometheus as Prometheus,
        SessionTerminal as SessionTerminal,
    )
    from aiopslab.cloud.node_state import State as State, find_state_changes as find_state_changes
    from aiopslab.cloud.outside import find_front_door as find_front_door, start_outside as start_outside
    from aiopslab.cloud.scenarios import (
        NODES as NODES,
        SyntheticCloud as SyntheticCloud,
        build_synthetic_cloud as build_synthetic_cloud,
    )
    from simcloud.world import (
        ADMIN as ADMIN,
        CONTROL_D as CONTROL_D,
        OPERATOR as OPERATOR,
        POLICIES as POLICIES,
        READ_ONLY as READ_ONLY,
        Copy as Copy,
        CopyFailed as CopyFailed,
        InteractiveShell as InteractiveShell,
        Policy as Policy,
        Terminal as Terminal,
        TypedLine as TypedLine,
        World as World,
        add_cluster as add_cluster,
        call_in_copy as call_in_copy,
    )

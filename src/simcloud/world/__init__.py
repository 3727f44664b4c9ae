"""Worlds: a kernel, machines, clusters and telemetry together, operated through terminals and copied by fork."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.world.clusters import add_cluster as add_cluster, join_cluster as join_cluster
    from simcloud.world.copies import (
        Copy as Copy,
        CopyFailed as CopyFailed,
        CopyLost as CopyLost,
        call_in_copy as call_in_copy,
    )
    from simcloud.world.policies import (
        ADMIN as ADMIN,
        OPERATOR as OPERATOR,
        POLICIES as POLICIES,
        READ_ONLY as READ_ONLY,
        Policy as Policy,
    )
    from simcloud.world.storage import share_folder as share_folder
    from simcloud.world.terminal import (
        TIMEOUT_S as TIMEOUT_S,
        TOOLBOX as TOOLBOX,
        Terminal as Terminal,
        publish_toolbox as publish_toolbox,
    )
    from simcloud.world.typed_lines import (
        CONTROL_D as CONTROL_D,
        TIMED_OUT as TIMED_OUT,
        InteractiveShell as InteractiveShell,
        TypedLine as TypedLine,
    )
    from simcloud.world.world import World as World

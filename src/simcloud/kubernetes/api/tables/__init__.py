"""Tables: the server-side output of ``kubectl get``."""

from simcloud.exports import export_lazily
from simcloud.kubernetes.api.tables.builder import make_table as make_table

with export_lazily(globals()):
    from simcloud.kubernetes.api.tables import cells as cells
    from simcloud.kubernetes.api.tables.networking import balancers as balancers
    from simcloud.kubernetes.api.tables.nodes import roles_of as roles_of
    from simcloud.kubernetes.api.tables.pods import pod as pod
    from simcloud.kubernetes.api.tables.storage import (
        access_modes as access_modes,
        class_of as class_of,
        is_default as is_default,
    )

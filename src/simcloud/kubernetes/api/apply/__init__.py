"""Field ownership: managedFields and server-side apply."""

from simcloud.kubernetes.api.apply.apply import server_side_apply as server_side_apply
from simcloud.kubernetes.api.apply.managed_fields import (
    manager_name as manager_name,
    track_update as track_update,
)

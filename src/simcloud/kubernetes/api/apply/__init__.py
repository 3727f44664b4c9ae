"""Field ownership: managedFields and server-side apply."""

from simcloud.kubernetes.api.apply.apply import server_side_apply
from simcloud.kubernetes.api.apply.managed_fields import manager_name, track_update

__all__ = ["manager_name", "server_side_apply", "track_update"]

"""Who owns which field of an object: managedFields and server-side apply."""

from aiopslab.cluster.api.apply.apply import server_side_apply
from aiopslab.cluster.api.apply.managed import manager_name, track_update

__all__ = ["manager_name", "server_side_apply", "track_update"]

"""Tables: what ``kubectl get`` prints is made here, by the server."""

from simcloud.kubernetes.api.tables.make import make_table

__all__ = ["make_table"]

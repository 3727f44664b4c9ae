"""Tables: what ``kubectl get`` prints is made here, by the server."""

from simcloud.kubernetes.api.tables.builder import make_table

__all__ = ["make_table"]

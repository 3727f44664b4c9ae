"""Tables: the server-side output of ``kubectl get``."""

from simcloud.kubernetes.api.tables.builder import make_table

__all__ = ["make_table"]

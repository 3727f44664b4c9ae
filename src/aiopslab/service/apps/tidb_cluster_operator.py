"""``TiDBCluster`` of the public AIOpsLab release, which is not available yet."""

from aiopslab.service.apps.missing import MissingApplication


class TiDBCluster(MissingApplication):
    """Creating it raises ``NotAvailable``."""

    title = "TiDB"

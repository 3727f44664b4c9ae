"""The monitoring of a cluster as pods: Prometheus, Alertmanager and exporters in the namespace ``monitoring``.

Scrapes take no packets and no virtual time, but happen only while Prometheus runs, and only of targets that its pod can
reach at that moment.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.telemetry.stack.alertmanager import format_page as format_page
    from simcloud.telemetry.stack.install import MonitoringStack as MonitoringStack
    from simcloud.telemetry.stack.names import NAMESPACE as NAMESPACE
    from simcloud.telemetry.stack.store_metrics import STORES as STORES

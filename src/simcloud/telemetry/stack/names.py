"""Names of the monitoring stack, in a module of their own because others need them before any cluster exists."""

from typing import Final

NAMESPACE: Final = "monitoring"

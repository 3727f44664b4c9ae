"""Lines that are typed at the hotels' databases again and again, and what they are expected to show."""

from __future__ import annotations

from tests.incidents.lines import RESTART
from tests.incidents.scene import logged, shows

UNDO_DATABASE = "kubectl -n {ns} rollout undo deployment/mongodb-{t}"
READY_DATABASE = "kubectl -n {ns} rollout status deployment/mongodb-{t} --timeout=50s"
DATABASE_PODS = "kubectl -n {ns} get pods -l io.kompose.service=mongodb-{t}"
DESCRIBE_DATABASE = "kubectl -n {ns} describe pods --show-events -l io.kompose.service=mongodb-{t}"
AFTERMATH = (UNDO_DATABASE, READY_DATABASE, RESTART)
"""A database comes back, and then the service that gave up on it."""
PENDING_DATABASE = shows(DATABASE_PODS, r"0/1 +Pending +0")
PANICS = logged('pod=~"{t}-.*"', "panic: no reachable servers")

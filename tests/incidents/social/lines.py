"""Lines that are typed at the network's stores again and again, and what they are expected to show."""

from __future__ import annotations

from tests.incidents.lines import UNDISTURBED
from tests.incidents.scene import logged, shows

RESTART_SERVICE = "kubectl -n {ns} delete pod -l service={t}-service"
RESTART_NGINX = "kubectl -n {ns} delete pod -l service=nginx-thrift"
SERVICE_RUNS = shows("kubectl -n {ns} get pods -l service={t}-service", UNDISTURBED)
LOOPS = logged('pod=~"{t}-service-.*"', "Failed to create mongodb index, try again")
"""The port stays closed until the database has taken the index."""
DATABASE_PODS = "kubectl -n {ns} get pods -l service={t}-mongodb"
DESCRIBE_DATABASE = "kubectl -n {ns} describe pods --show-events -l service={t}-mongodb"
UNDO_DATABASE = "kubectl -n {ns} rollout undo deployment/{t}-mongodb"


def edited(name: str, change: str) -> str:
    """The line that changes a ConfigMap by a sed script."""
    return f"kubectl -n {{ns}} get configmap {name} -o yaml | sed '{change}' | kubectl apply -f -"


def in_mongo(database: str, script: str) -> str:
    """The line that has a script run in the shell of a target's database."""
    return f"kubectl -n {{ns}} exec deploy/{{t}}-mongodb -- mongo {database} --quiet --eval '{script}'"

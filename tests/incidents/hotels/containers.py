"""What is done to files inside running containers."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.hotels.needs import SERVICES
from tests.incidents.lines import RESTARTED
from tests.incidents.needs import everyone_fine
from tests.incidents.scene import metric, shows

FOLDER = "/go/src/github.com/harlow/go-micro-services"

BREAKAGES = (
    Breakage(
        "deleted configuration, back with a new container",
        SERVICES,
        (f"kubectl -n {{ns}} exec deploy/{{t}} -- rm {FOLDER}/config.json",),
        (
            everyone_fine(),
            shows(
                f"kubectl -n {{ns}} exec deploy/{{t}} -- ls {FOLDER}/config.json", "No such file or directory"
            ),
            shows(
                "kubectl -n {ns} exec deploy/{t} -- kill 1; sleep 10; kubectl -n {ns} get pods",
                r"^{t}-\S+ +" + RESTARTED,
            ),
            shows(f"kubectl -n {{ns}} exec deploy/{{t}} -- ls {FOLDER}/config.json", "config.json$"),
            metric(
                'changes(kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"}[2m])', most=1
            ),
        ),
        (),
    ),
)

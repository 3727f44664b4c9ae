"""What is done to Deployments and pods: how many, of which image, by which command, with which probes."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.hotels.needs import STORED
from tests.incidents.lines import DESCRIBE, PODS, RESTART, UNDISTURBED, UNDO, container
from tests.incidents.needs import everyone_fine, its_users_fail
from tests.incidents.scene import alert, failing_spans, logged, metric, no_spans, shows

BREAKAGES = (
    Breakage(
        "wrong image of a database",
        STORED,
        (
            "kubectl -n {ns} set image deployment/mongodb-{t} *=mongo:4.4.66",
            RESTART,
        ),
        (
            its_users_fail(),
            shows("kubectl -n {ns} get deployment mongodb-{t}", r"0/1 +1 +0"),
            shows("kubectl -n {ns} get events", r"docker.io/library/mongo:4.4.66: not found"),
            shows("kubectl -n {ns} get endpoints mongodb-{t}", r"mongodb-{t} +(<none>)? "),
            logged('pod=~"{t}-.*"', "panic: no reachable servers"),
            alert("KubePodImagePullFailing"),
            failing_spans("frontend"),
        ),
        (
            "kubectl -n {ns} rollout undo deployment/mongodb-{t}",
            "kubectl -n {ns} rollout status deployment/mongodb-{t} --timeout=50s",
            RESTART,
        ),
    ),
    Breakage(
        "bad release",
        ("geo",),
        ("kubectl -n {ns} set image deployment/{t} hotel-reserv-{t}=yinfangchen/geo:app3",),
        (
            its_users_fail(),
            shows(PODS, r"0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows("kubectl -n {ns} logs deploy/{t}", "mongodb-geo:27777", "panic: no reachable servers"),
            shows(DESCRIBE, "Exit Code: +2", "Back-off restarting failed container hotel-reserv-geo in pod"),
            failing_spans("search"),
            metric('sum(kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"})', least=1),
        ),
        (UNDO,),
    ),
    Breakage(
        "wrong command",
        ("profile", "recommendation", "reservation", "search", "user"),
        (container("command", '["geo"]', "replace"),),
        (
            its_users_fail(),
            shows(PODS, UNDISTURBED),
            shows("kubectl -n {ns} logs deploy/{t}", "cmd/geo/main.go", "register service .*name: srv-geo"),
            shows(
                "kubectl -n {ns} exec deploy/consul -- wget -qO- localhost:8500/v1/health/service/srv-geo"
                " | jq -r '.[].Service.Address' | sort -u | wc -l",
                r"^ *2$",
            ),
            failing_spans("frontend"),
            no_spans("{t}"),
        ),
        (UNDO,),
    ),
    Breakage(
        "all pods killed",
        ("all",),
        ("kubectl -n {ns} delete pods --all --wait=false", "sleep 3"),
        (
            everyone_fine(),
            shows("kubectl -n {ns} get events", "Stopping container hotel-reserv-frontend"),
            # Whoever was quicker than what it needs has crashed once or twice, and come back.
            metric('sum(kube_pod_container_status_restarts_total{namespace="{ns}"})', least=1),
            logged('pod=~".+"', r"connect: connection refused|no such host"),
        ),
        ("kubectl -n {ns} get pods",),
        soak_s=90.0,
    ),
)

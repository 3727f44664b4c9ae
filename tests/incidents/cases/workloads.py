"""What is done to Deployments and pods: how many, of which image, by which command, with which probes."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import DESCRIBE, PODS, UNDO, container
from tests.incidents.needs import EVERYONE, SERVICES, STORED, everyone_fine, its_users_fail
from tests.incidents.scene import alert, failing_spans, logged, metric, no_spans, shows, users_fail

BREAKAGES = (
    Breakage(
        "zero replicas",
        SERVICES,
        ("kubectl -n {ns} scale deployment/{t} --replicas=0",),
        (
            its_users_fail(),
            shows("kubectl -n {ns} get deployment {t}", r"^{t} +0/0"),
            shows("kubectl -n {ns} get endpointslices -l kubernetes.io/service-name={t}", "<unset>"),
            shows(
                "kubectl -n {ns} get events --field-selector involvedObject.name={t}",
                r"Scaled down replica set {t}-\w+ from 1 to 0",
            ),
            failing_spans("frontend"),
            no_spans("{t}"),
            metric('kube_deployment_spec_replicas{deployment="{t}"}', most=0),
        ),
        ("kubectl -n {ns} scale deployment/{t} --replicas=1",),
    ),
    Breakage(
        "front door without pods",
        ("frontend",),
        ("kubectl -n {ns} scale deployment/{t} --replicas=0",),
        (
            users_fail(*EVERYONE, kind="refused"),
            shows("kubectl -n {ns} get deployment {t}", r"^{t} +0/0"),
            shows("kubectl -n {ns} describe service {t}", r"^Endpoints: +$"),
            shows("curl -sS http://172.18.0.3:30500/", "Connection refused|Failed to connect"),
            no_spans("frontend"),
        ),
        ("kubectl -n {ns} scale deployment/{t} --replicas=1",),
    ),
    Breakage(
        "wrong image",
        (*SERVICES, "frontend"),
        ("kubectl -n {ns} set image deployment/{t} *=yinfangchen/hotelreservation:v9.9",),
        (
            everyone_fine(),
            shows(PODS, r"1/1 +Running", r"0/1 +(ErrImagePull|ImagePullBackOff)"),
            shows(
                DESCRIBE,
                r"Back-off pulling image \"yinfangchen/hotelreservation:v9.9\"",
                r"Failed to pull image .*docker.io/yinfangchen/hotelreservation:v9.9: not found",
            ),
            shows(
                "kubectl -n {ns} rollout status deployment/{t} --timeout=5s",
                "1 old replicas are pending termination",
            ),
            alert("KubePodImagePullFailing"),
        ),
        (UNDO,),
    ),
    Breakage(
        "wrong image of a database",
        STORED,
        (
            "kubectl -n {ns} set image deployment/mongodb-{t} *=mongo:4.4.66",
            "kubectl -n {ns} delete pod -l io.kompose.service={t}",
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
            "kubectl -n {ns} delete pod -l io.kompose.service={t}",
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
            shows(PODS, r"1/1 +Running +0"),
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
        "command that is not in the image",
        (*SERVICES, "frontend"),
        (container("command", '["{t}-server"]', "replace"),),
        (
            everyone_fine(),
            shows(PODS, r"1/1 +Running", r"0/1 +(RunContainerError|CrashLoopBackOff)"),
            shows(DESCRIBE, r'exec: "{t}-server": executable file not found in \$PATH', "Exit Code: +128"),
            metric(
                'count(kube_pod_container_status_last_terminated_reason{reason="StartError",pod=~"{t}-.*"} == 1)',
                least=1,
            ),
        ),
        (UNDO,),
    ),
    Breakage(
        "killed pod",
        SERVICES,
        ("kubectl -n {ns} delete pod -l io.kompose.service={t}",),
        (
            everyone_fine(),
            shows(PODS, r"1/1 +Running +[01]"),
            shows("kubectl -n {ns} get events", "Stopping container hotel-reserv-{t}", "Created pod: {t}-"),
            shows("kubectl -n {ns} logs deploy/consul", "srv-{t}"),
        ),
        ("kubectl -n {ns} get pods",),
    ),
    Breakage(
        "deleted Deployment",
        (*SERVICES, "frontend"),
        (
            "kubectl -n {ns} get deployment {t} -o json"
            " | jq 'del(.metadata.resourceVersion, .metadata.uid, .status)' > /tmp/{t}.json",
            "kubectl -n {ns} delete deployment {t}",
        ),
        (
            its_users_fail("HTTP 500|refused"),
            shows("kubectl -n {ns} get deployment {t}", r'deployments.apps "{t}" not found'),
            shows(PODS, "No resources found in {ns} namespace."),
            no_spans("{t}"),
        ),
        ("kubectl apply -f /tmp/{t}.json",),
    ),
    Breakage(
        "liveness probe of a wrong port",
        SERVICES,
        (container("livenessProbe", '{"tcpSocket":{"port":9999},"periodSeconds":5,"failureThreshold":1}'),),
        (
            its_users_fail(least=0.3),
            shows(PODS, r"(CrashLoopBackOff|Running|Completed|Error) +[2-9]"),
            shows(
                DESCRIBE,
                r"Liveness probe failed: dial tcp 10\.244\.\d+\.\d+:9999: connect: connection refused",
                "Container hotel-reserv-{t} failed liveness probe, will be restarted",
            ),
            metric('sum(kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"})', least=2),
            failing_spans("frontend"),
        ),
        (UNDO,),
    ),
    Breakage(
        "readiness probe of a wrong path",
        ("frontend",),
        (
            "kubectl -n {ns} patch deployment {t} -p"
            ' \'{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}}}\'',
            container("readinessProbe", '{"httpGet":{"path":"/healthz","port":5000},"periodSeconds":5}'),
        ),
        (
            users_fail(*EVERYONE, kind="refused"),
            shows(PODS, r"0/1 +Running +0"),
            shows(DESCRIBE, "Readiness probe failed: HTTP probe failed with statuscode: 404"),
            shows("kubectl -n {ns} describe service {t}", r"^Endpoints: +$"),
            alert("KubeServiceWithoutEndpoints"),
        ),
        (UNDO,),
    ),
    Breakage(
        "readiness probe of a wrong port",
        SERVICES,
        (
            "kubectl -n {ns} patch deployment {t} -p"
            ' \'{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}}}\'',
            container("readinessProbe", '{"tcpSocket":{"port":9999},"periodSeconds":5}'),
        ),
        (
            everyone_fine(),  # callers find each other in Consul, which knows no probe of Kubernetes
            shows(PODS, r"0/1 +Running +0"),
            shows(DESCRIBE, r"Readiness probe failed: dial tcp .*:9999: connect: connection refused"),
            shows("kubectl -n {ns} get deployment {t}", "0/1 +1 +0"),
            alert("KubeServiceWithoutEndpoints"),
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

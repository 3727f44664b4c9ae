"""What is written into ConfigMaps and pods. Files are mounted by subPath: a running pod never sees an edit."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import DESCRIBE, PODS, PUT_BACK, RESTART, RUNNING, UNDO, container, saved
from tests.incidents.needs import everyone_fails, everyone_fine, its_users_fail
from tests.incidents.scene import hides, later, logged, metric, shows
from tests.incidents.shared.networks import lost_packets, names_of_the_wrong_server
from tests.incidents.social.lines import RESTART_NGINX, edited
from tests.incidents.social.needs import SERVICES

CONFIG = "/social-network-microservices/config/service-config.json"
INSIDE = f"kubectl -n {{ns}} exec deploy/{{t}} -- grep -c 9191 {CONFIG}"
RESTARTED = "kubectl -n {ns} rollout restart deployment/{t}"
NO_JAEGER = logged('pod=~"{t}-.*"', r"SetUpTracer\) Failed to connect to jaeger, retrying")

BREAKAGES = (
    Breakage(
        "edited ConfigMap that nobody reads before a restart",
        SERVICES,
        (edited("{t}", 's/"port": 9090/"port": 9191/'),),
        (
            everyone_fine(),
            shows(INSIDE, "^0"),
            shows("kubectl -n {ns} get configmap {t} -o yaml", '"port": 9191'),
            later(
                (RESTARTED,),
                60.0,
                its_users_fail(),
                hides(INSIDE, "^0"),
                RUNNING,
                logged('pod=~".+"', "Connection refused"),
            ),
        ),
        (edited("{t}", 's/"port": 9191/"port": 9090/'), RESTARTED),
        soak_s=32.0,
    ),
    Breakage(
        "deleted ConfigMap",
        SERVICES,
        (
            saved("configmap", "{t}"),
            "kubectl -n {ns} delete configmap {t}",
            RESTART,
        ),
        (
            its_users_fail(),
            shows(PODS, r"0/1 +ContainerCreating +0"),
            shows(DESCRIBE, r'MountVolume.SetUp failed for volume "{t}-config" : configmap "{t}" not found'),
            metric('sum(kube_pod_status_phase{phase="Pending",pod=~"{t}-.*"})', least=1),
        ),
        (PUT_BACK, RESTART),
        soak_s=40.0,
        heal_s=60.0,
    ),
    Breakage(
        "wrong command",
        tuple(name for name in SERVICES if name != "unique-id-service"),
        (container("command", '["UniqueIdService"]', "replace"),),
        (
            its_users_fail(),
            RUNNING,
            shows(
                "kubectl -n {ns} logs deploy/{t}",
                r"UniqueIdService.cpp:\d+:main\) Starting the unique-id-service",
            ),
        ),
        (UNDO,),
    ),
    Breakage(
        "configuration that nginx does not understand",
        ("lisen", "listen_on", "Listen"),
        (edited("nginx-thrift", "s/listen  *8080/{t} 8080/"), RESTART_NGINX),
        (
            everyone_fails("refused"),
            shows(
                "kubectl -n {ns} get pods -l service=nginx-thrift", r"0/1 +(Error|CrashLoopBackOff) +[1-9]"
            ),
            logged(
                'pod=~"nginx-thrift-.*"',
                r'nginx: \[emerg\] unknown directive "{t}" in /usr/local/openresty/nginx/conf/nginx.conf:',
            ),
        ),
        (edited("nginx-thrift", "s/{t} 8080/listen 8080/"), RESTART_NGINX),
    ),
    names_of_the_wrong_server(SERVICES, RUNNING, NO_JAEGER),
    lost_packets(SERVICES, RUNNING),
    Breakage(
        "DNS gone",
        ("nginx-thrift",),
        ("kubectl -n kube-system scale deployment/coredns --replicas=0",),
        (
            everyone_fails(),
            shows("kubectl -n kube-system get deployment coredns", "^coredns +0/0"),
            RUNNING,
            logged('pod=~"nginx-thrift-.*"', "could not be resolved|no resolver|resolve"),
            metric('kube_deployment_status_replicas_available{deployment="coredns"}', most=0),
        ),
        ("kubectl -n kube-system scale deployment/coredns --replicas=2",),
    ),
)

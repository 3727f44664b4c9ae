"""What is written into pods: references, volumes, arguments, names, hooks."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.hotels.lines import (
    AFTERMATH,
    DATABASE_PODS,
    DESCRIBE_DATABASE,
    PANICS,
    PENDING_DATABASE,
    READY_DATABASE,
)
from tests.incidents.hotels.needs import SERVICES, STORED
from tests.incidents.lines import (
    CRASHING,
    EVENTS,
    ONE_AT_MOST,
    PODS,
    PUT_BACK,
    RESTART,
    UNDISTURBED,
    UNDO,
    container,
    saved,
    template,
)
from tests.incidents.needs import everyone_fine, its_users_fail
from tests.incidents.scene import alert, failing_spans, logged, metric, no_spans, shows
from tests.incidents.shared.networks import names_of_the_wrong_server

BREAKAGES = (
    Breakage(
        "config map key that is not there",
        STORED,
        (
            "kubectl -n {ns} create configmap database-settings --from-literal=cache=1",
            container(
                "env",
                '[{"name":"CACHE_GB","valueFrom":{"configMapKeyRef":{"name":"database-settings","key":"cacheGB"}}}]',
                deployment="mongodb-{t}",
            ),
            RESTART,
        ),
        (
            its_users_fail(),
            shows(DATABASE_PODS, r"0/1 +CreateContainerConfigError"),
            shows(DESCRIBE_DATABASE, "Error: couldn't find key cacheGB in ConfigMap {ns}/database-settings"),
            PANICS,
            failing_spans("frontend"),
        ),
        (*AFTERMATH, "kubectl -n {ns} delete configmap database-settings"),
    ),
    Breakage(
        "deleted config map of a database",
        ("geo", "rate"),
        (
            saved("configmap", "mongo-{t}-script"),
            "kubectl -n {ns} delete configmap mongo-{t}-script",
            "kubectl -n {ns} delete pod -l io.kompose.service=mongodb-{t}",
            RESTART,
        ),
        (
            its_users_fail(),
            shows(DATABASE_PODS, r"0/1 +ContainerCreating +0"),
            shows(
                DESCRIBE_DATABASE,
                r'MountVolume.SetUp failed for volume "mongo-script" : configmap "mongo-{t}-script" not found',
            ),
            PANICS,
        ),
        (PUT_BACK, READY_DATABASE, RESTART),
        heal_s=150.0,
    ),
    Breakage(
        "deleted claim",
        STORED,
        (
            saved("pvc", "{t}-pvc"),
            "kubectl -n {ns} delete pvc {t}-pvc --wait=false",
            "kubectl -n {ns} get pvc {t}-pvc",
            "kubectl -n {ns} delete pod -l io.kompose.service=mongodb-{t}",
            RESTART,
        ),
        (
            its_users_fail(),
            PENDING_DATABASE,
            shows(DESCRIBE_DATABASE, r'persistentvolumeclaim "{t}-pvc" not found'),
            shows("kubectl get pv {t}-pv", "Released"),
            PANICS,
        ),
        (
            'kubectl patch pv {t}-pv --type=json -p \'[{"op":"remove","path":"/spec/claimRef"}]\'',
            PUT_BACK,
            READY_DATABASE,
            RESTART,
        ),
    ),
    Breakage(
        "no sampling of traces",
        ("frontend",),
        ("kubectl -n {ns} set env deployment/{t} JAEGER_SAMPLE_RATIO=0",),
        (
            everyone_fine(),
            shows("kubectl -n {ns} logs deploy/{t}", "Jaeger client: adjusted sample ratio 0.000000"),
            no_spans("frontend"),
            no_spans("geo"),
            metric('sum(rate(http_server_requests_total{service="frontend"}[1m]))', least=1),
        ),
        (UNDO,),
    ),
    names_of_the_wrong_server(
        SERVICES,
        CRASHING,
        shows(
            "kubectl -n {ns} exec deploy/consul -- nslookup -timeout=2 jaeger 10.96.0.99",
            "timed out|no servers could be reached",
        ),
        logged(
            'pod=~"{t}-.*"',
            r"panic: (no reachable servers|.*lookup jaeger on 10\.96\.0\.99:53: .*i/o timeout)",
        ),
    ),
    Breakage(
        "volume that cannot be written",
        STORED,
        (
            container("volumeMounts/0/readOnly", "true", deployment="mongodb-{t}"),
            RESTART,
        ),
        (
            its_users_fail(),
            shows(DATABASE_PODS, r"0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows(DESCRIBE_DATABASE, "Exit Code: +100", r"/data/db from {t} \(ro\)"),
            logged(
                'pod=~"mongodb-{t}-.*"', "Attempted to create a lock file on a read-only directory: /data/db"
            ),
            PANICS,
            failing_spans("frontend"),
        ),
        AFTERMATH,
    ),
    Breakage(
        "argument that mongod does not know",
        STORED,
        (
            container("args", '["--autth"]', deployment="mongodb-{t}"),
            RESTART,
        ),
        (
            its_users_fail(),
            shows(DATABASE_PODS, r"0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows(
                "kubectl -n {ns} logs deploy/mongodb-{t}",
                "Error parsing command line: unrecognised option '--autth'",
                "try 'mongod --help' for more information",
            ),
            PANICS,
            failing_spans("frontend"),
        ),
        AFTERMATH,
    ),
    Breakage(
        "pod that must not be root",
        STORED,
        (template('{"securityContext":{"runAsNonRoot":true}}', "mongodb-{t}"), RESTART),
        (
            its_users_fail(),
            shows(DATABASE_PODS, r"0/1 +CreateContainerConfigError"),
            shows(
                EVENTS, r"Error: container has runAsNonRoot and image will run as root \(pod: \"mongodb-{t}-"
            ),
            PANICS,
            alert("KubeDeploymentReplicasMismatch"),
        ),
        AFTERMATH,
    ),
    Breakage(
        "init container that waits for ever",
        SERVICES,
        (
            template(
                '{"initContainers":[{"name":"wait","image":"busybox:1.36",'
                '"command":["sh","-c","until nslookup mongo-{t}; do sleep 2; done"]}]}'
            ),
        ),
        (
            everyone_fine(),
            shows(PODS, UNDISTURBED, r"0/1 +Init:0/1 +0"),
            logged('container="wait"', "NXDOMAIN|can't (find|resolve)"),
            metric('sum(kube_pod_status_phase{phase="Pending",pod=~"{t}-.*"})', least=1),
        ),
        (UNDO,),
    ),
    Breakage(
        "registry taken for oneself",
        SERVICES,
        (ONE_AT_MOST, template('{"hostAliases":[{"ip":"127.0.0.1","hostnames":["consul"]}]}')),
        (
            its_users_fail(),
            shows(PODS, r"0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows(
                "kubectl -n {ns} logs deploy/{t}",
                r'FTL .*failed register: Put "http://consul:8500/v1/agent/service/register": '
                r"dial tcp 127\.0\.0\.1:8500: connect: connection refused",
            ),
            failing_spans("frontend"),
        ),
        (UNDO,),
    ),
)

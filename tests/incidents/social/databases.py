"""What is done to databases. They have no volumes: what is written goes with the container."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import EVENTS, PUT_BACK, UNDISTURBED, UNDO, netem, queueing, saved
from tests.incidents.needs import everyone_fine, its_users_fail
from tests.incidents.scene import for_target, logged, metric, shows, users_fail, users_fine, users_slow
from tests.incidents.social.lines import (
    DATABASE_PODS,
    DESCRIBE_DATABASE,
    LOOPS,
    RESTART_SERVICE,
    SERVICE_RUNS,
    UNDO_DATABASE,
    edited,
    in_mongo,
)
from tests.incidents.social.needs import COMPOSE, HOME, RESTORE, STEMS, USER

WRITTEN_TO = ("url-shorten", "user-timeline", "post-storage")
"""Databases in which every new post leaves something."""
RESTART_DATABASE = "kubectl -n {ns} rollout restart deployment/{t}-mongodb"
ONLY_TLS = (
    "kubectl -n {ns} patch deployment {t}-mongodb -p '"
    '{"spec":{"template":{"spec":{"volumes":[{"name":"tls","secret":{"secretName":"mongodb-tls"}}],"containers":'
    '[{"name":"{t}-mongodb","args":["--tlsMode","requireTLS","--tlsCertificateKeyFile","/etc/tls/tls.pem"],'
    '"volumeMounts":[{"name":"tls","mountPath":"/etc/tls"}]}]}}}}\''
)
NOT_PLAIN = logged('pod=~"{t}-mongodb-.*"', "only allow SSL connections")
DROPS_PLAIN = logged('pod=~"{t}-service-.*"', "connection closed calling ismaster on '{t}-mongodb:27017'")

BREAKAGES = (
    Breakage(
        "TLS required in the configuration",
        ("url-shorten",),
        (
            edited(
                "{t}-mongodb",
                r"s#mode: disabled#mode: requireTLS\n        certificateKeyFile: /etc/tls/tls.pem#",
            ),
            RESTART_DATABASE,
            "sleep 10",
            RESTART_SERVICE,
        ),
        (
            its_users_fail(),
            SERVICE_RUNS,
            LOOPS,
            DROPS_PLAIN,
            NOT_PLAIN,
            shows(DATABASE_PODS, UNDISTURBED),
        ),
        (
            edited("{t}-mongodb", "s#mode: requireTLS#mode: disabled#; /certificateKeyFile/d"),
            RESTART_DATABASE,
        ),
        soak_s=75.0,
    ),
    Breakage(
        "TLS required by arguments",
        tuple(STEMS),
        (ONLY_TLS, "sleep 10", RESTART_SERVICE),
        (its_users_fail(), SERVICE_RUNS, LOOPS, DROPS_PLAIN, NOT_PLAIN),
        (UNDO_DATABASE, "sleep 10", RESTART_SERVICE),
        heal_s=70.0,
    ),
    Breakage(
        "access control without users",
        tuple(STEMS),
        (
            edited(
                "{t}-mongodb",
                r"s#mode: disabled#mode: disabled\n    security:\n      authorization: enabled#",
            ),
            RESTART_DATABASE,
            "sleep 10",
            RESTART_SERVICE,
        ),
        (
            its_users_fail(),
            SERVICE_RUNS,
            logged('pod=~"{t}-service-.*"', "command createIndexes requires authentication"),
            LOOPS,
        ),
        (edited("{t}-mongodb", "/security:/d; /authorization:/d"), RESTART_DATABASE),
        soak_s=75.0,
    ),
    Breakage(
        "database locked against writes",
        WRITTEN_TO,
        (in_mongo("admin", "db.fsyncLock()"),),
        (
            users_fail(COMPOSE, kind="timeout"),
            users_fine(HOME, USER),
            shows(in_mongo("admin", "db.currentOp()"), '"fsyncLock" : true', '"waitingForLock" : true'),
            logged('pod=~"{t}-mongodb-.*"', "mongod is locked and no writes are allowed"),
            SERVICE_RUNS,
        ),
        (in_mongo("admin", "db.fsyncUnlock()"),),
        soak_s=40.0,
    ),
    Breakage(
        "slow database",
        WRITTEN_TO,
        # Less than the 300 ms in which the driver must have found its server.
        (netem("add dev eth0 root netem delay 100ms", "{t}-mongodb"),),
        (
            users_slow(COMPOSE, median_s=0.08),
            everyone_fine(),
            SERVICE_RUNS,
            shows(queueing("{t}-mongodb"), "netem .*delay 100ms"),
        ),
        (netem("del dev eth0 root", "{t}-mongodb"),),
        soak_s=40.0,
    ),
    Breakage(
        "killed database",
        tuple(STEMS),
        ("kubectl -n {ns} exec deploy/{t}-mongodb -- kill 1",),
        (
            shows(DATABASE_PODS, r"1/1 +Running +1"),
            shows(
                "kubectl -n {ns} logs -p --tail=80 deploy/{t}-mongodb",
                r'"Received signal","attr":\{"signal":15,"error":"Terminated"',
                r'"Shutting down","attr":\{"exitCode":0',
            ),
            everyone_fine(),
        ),
        (),
        soak_s=45.0,
    ),
    Breakage(
        "memory limit of a database too small",
        ("url-shorten-mongodb", "user-timeline-mongodb"),
        ("kubectl -n {ns} set resources deployment/{t} --limits=memory=48Mi --requests=memory=48Mi",),
        (
            users_fail(COMPOSE),
            users_fine(HOME),
            shows("kubectl -n {ns} get pods -l service={t}", r"0/1 +(OOMKilled|CrashLoopBackOff) +[1-9]"),
            shows("kubectl -n {ns} describe pods -l service={t}", "Reason: +OOMKilled", "Exit Code: +137"),
            logged('pod=~".+"', "No suitable servers found.*{t}:27017"),
        ),
        (UNDO,),
    ),
    Breakage(
        "argument that mongod does not know",
        tuple(STEMS),
        (
            'kubectl -n {ns} patch deployment {t}-mongodb -p \'{"spec":{"template":{"spec":{"containers":'
            '[{"name":"{t}-mongodb","args":["--autth"]}]}}}}\'',
            "sleep 10",
            RESTART_SERVICE,
        ),
        (
            its_users_fail(),
            shows(DATABASE_PODS, r"0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows(
                "kubectl -n {ns} logs deploy/{t}-mongodb",
                "Error parsing command line: unrecognised option '--autth'",
            ),
            SERVICE_RUNS,
            LOOPS,
        ),
        (UNDO_DATABASE,),
    ),
    Breakage(
        "certificate that is not there",
        ("url-shorten",),
        (
            saved("secret", "mongodb-tls"),
            "kubectl -n {ns} delete secret mongodb-tls",
            "kubectl -n {ns} delete pod -l service={t}-mongodb",
        ),
        (
            its_users_fail(),
            shows(DATABASE_PODS, r"0/1 +ContainerCreating +0"),
            shows(
                DESCRIBE_DATABASE,
                r'MountVolume.SetUp failed for volume "tls" : secret "mongodb-tls" not found',
            ),
            logged('pod=~"{t}-service-.*"', "No suitable servers found"),
        ),
        (PUT_BACK, "kubectl -n {ns} delete pod -l service={t}-mongodb"),
    ),
    Breakage(
        "database without what was written",
        ("delete pod -l service=post-storage-mongodb", "exec deploy/post-storage-mongodb -- kill 1"),
        ("kubectl -n {ns} {t}", "kubectl -n {ns} delete pod -l service=post-storage-memcached"),
        (
            users_fail(HOME, USER, least=0.05, kind="HTTP 500"),
            shows("kubectl -n {ns} get pods", r"^post-storage-mongodb-\S+ +1/1 +Running"),
            logged('pod=~"post-storage-service-.*"', r"ReadPosts\) Return set incomplete"),
            for_target(
                "exec deploy/post-storage-mongodb -- kill 1",
                metric('kube_pod_container_status_restarts_total{container="post-storage-mongodb"}', least=1),
            ),
        ),
        RESTORE,
    ),
    Breakage(
        "full disk",
        ("url-shorten", "user", "user-timeline"),
        (
            "kubectl -n {ns} exec deploy/{t}-mongodb -- sh -c "
            "'fallocate -l $(( $(stat -f -c %f /data/db) * 4096 )) /data/db/core.4242'",
        ),
        (
            users_fail(COMPOSE, least=0.1),
            shows("kubectl describe nodes", r"DiskPressure +True .*kubelet has disk pressure"),
            shows(EVENTS, r"Evicted .*The node was low on resource: ephemeral-storage\."),
            *(
                for_target(
                    written, logged('pod=~".*-mongodb-.*"', "WiredTiger error.*No space left on device")
                )
                for written in ("url-shorten", "user-timeline")
            ),
            metric('sum(kube_node_status_condition{condition="DiskPressure",status="true"})', least=1),
        ),
        (
            "kubectl -n {ns} delete pod -l service={t}-mongodb",
            "kubectl -n {ns} delete pods --field-selector=status.phase=Failed",
            "sleep 20",
            *RESTORE,
        ),
        soak_s=45.0,
    ),
)

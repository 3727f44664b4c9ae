"""What is done to databases, most of it in their own shell."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import RESTART, RESTARTED, UNDISTURBED, memcached
from tests.incidents.needs import everyone_fine, its_users_fail
from tests.incidents.scene import (
    Sign,
    failing_spans,
    for_target,
    hides,
    logged,
    metric,
    shows,
    users_fail,
    users_fine,
)
from tests.simcloud.datastores.mongodb.test_tls import pem

AS_ROOT = "kubectl -n {ns} exec deploy/mongodb-{t} -- mongo admin -u root -p root --quiet --eval "
OPEN = "kubectl -n {ns} exec deploy/mongodb-{t} -- mongo {t}-db --quiet --eval "
DESCRIBE = "kubectl -n {ns} describe pod -l io.kompose.service={t}"
WITH_TLS = (
    '{"spec": {"template": {"spec": {"volumes": [{"name": "tls", "secret": {"secretName": "mongo-tls"}}], "containers": '
    '[{"name": "hotel-reserv-{t}-mongo", "args": [AUTH"--tlsMode", "requireTLS", "--tlsCertificateKeyFile", "/etc/tls/tls.pem"], '
    '"volumeMounts": [{"name": "tls", "mountPath": "/etc/tls"}]}]}}}}'
)


def _certificate_in_secret(days: int) -> str:
    return (
        f"cat > tls.pem <<'END'\n{pem(days).decode()}END\n"
        "kubectl -n {ns} create secret generic mongo-tls --from-file=tls.pem"
    )


def _require_tls() -> str:
    """By patch; the two databases with access control keep it."""
    with_auth, without = (WITH_TLS.replace("AUTH", each) for each in ('"--auth", ', ""))
    patch = "kubectl -n {ns} patch deployment mongodb-{t} -p "
    return "case {t} in geo|rate) " + patch + f"'{with_auth}';; *) " + patch + f"'{without}';; esac"


COUNT = "kubectl -n {ns} exec deploy/mongodb-{t} -- sh -c 'ls -l /data/db | grep -c collection'"
ROLES = '[{role: "userAdminAnyDatabase", db: "admin"}, {role: "readWrite", db: "{t}-db"}]'

CRASHES: tuple[Sign, ...] = (
    shows("kubectl -n {ns} get pods", r"^{t}-\S+ +0/1 +(Error|CrashLoopBackOff) +[1-9]"),
    shows(DESCRIBE, "Back-off restarting failed container hotel-reserv-{t} in pod {t}-"),
    metric('kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"}', least=1),
    failing_spans("search"),
)

BREAKAGES = (
    Breakage(
        "revoked role",
        ("geo", "rate"),
        (AS_ROOT + """'db.revokeRolesFromUser("admin", [{role: "readWrite", db: "{t}-db"}])'""", RESTART),
        (
            users_fail("search", kind="HTTP 500"),
            users_fine("recommend", "user", "reserve"),
            *CRASHES,
            shows(
                "kubectl -n {ns} logs deploy/{t}",
                r"FTL cmd/{t}/db.go:\d+ > not authorized on {t}-db to execute command",
            ),
            shows(DESCRIBE, r"Exit Code: +1$"),
            logged(
                'pod=~"mongodb-{t}-.*"',
                '"Checking authorization failed".*"code":13,"codeName":"Unauthorized"',
            ),
        ),
        (AS_ROOT + """'db.grantRolesToUser("admin", [{role: "readWrite", db: "{t}-db"}])'""", RESTART),
    ),
    Breakage(
        "dropped user",
        ("rate", "geo"),
        (AS_ROOT + """'db.dropUser("admin")'""", RESTART),
        (
            users_fail("search", kind="HTTP 500"),
            *CRASHES,
            shows(
                "kubectl -n {ns} logs deploy/{t}",
                r"PNC cmd/{t}/db.go:\d+ > server returned error on SASL authentication step: Authentication failed\.$",
                r"^panic: server returned error on SASL",
            ),
            shows(DESCRIBE, r"Exit Code: +2$"),
            logged(
                'pod=~"mongodb-{t}-.*"',
                "UserNotFound: Could not find user .{1,2}admin.{1,2} for db .{1,2}admin",
            ),
        ),
        (AS_ROOT + f"""'db.createUser({{user: "admin", pwd: "admin", roles: {ROLES}}})'""", RESTART),
    ),
    Breakage(
        "changed password",
        ("geo", "rate"),
        (AS_ROOT + """'db.changeUserPassword("admin", "s3cret")'""", RESTART),
        (
            users_fail("search", kind="HTTP 500"),
            *CRASHES,
            shows(
                "kubectl -n {ns} logs deploy/{t}", "^panic: server returned error on SASL authentication step"
            ),
            logged(
                'pod=~"mongodb-{t}-.*"',
                "AuthenticationFailed: SCRAM authentication failed, storedKey mismatch",
            ),
        ),
        (AS_ROOT + """'db.changeUserPassword("admin", "admin")'""", RESTART),
    ),
    Breakage(
        "dropped database of a service that holds its data in memory",
        ("user", "recommendation"),
        (OPEN + "'db.dropDatabase()'",),
        (
            everyone_fine(),
            hides(
                OPEN + "'db.adminCommand({listDatabases: 1}).databases.forEach(d => print(d.name))'", "{t}-db"
            ),
            logged('pod=~"mongodb-{t}-.*"', '"dropDatabase - starting".*{t}-db'),
            shows(RESTART, "deleted"),
            shows("sleep 15; " + OPEN + "'db.{t}.count() > 70'", "^true$"),
        ),
        (),
    ),
    Breakage(
        "dropped collection that is read while serving",
        ("reservation", "profile"),
        (
            OPEN + "'db.getCollectionNames().forEach(c => db[c].drop())'",
            memcached("memcached-{t}", "flush_all") + " || " + memcached("memcached-reserve", "flush_all"),
        ),
        (
            logged('pod=~"mongodb-{t}-.*"', '"CMD: drop"'),
            for_target("reservation", logged('pod=~"{t}-.*"', r"PNC .* Tried to find hotelId .*not found")),
            for_target("reservation", shows("kubectl -n {ns} get pods", r"^{t}-\S+ +" + RESTARTED)),
            for_target("profile", users_fail("recommend", kind="Connection closed")),
            for_target(
                "profile",
                shows("kubectl -n {ns} logs deploy/{t}", "ERR .*Failed get hotels data: .*not found"),
            ),
            for_target("profile", shows(OPEN + "'db.hotels.count()'", "^0$")),
        ),
        (
            RESTART,
            "sleep 15; kubectl -n {ns} delete pod -l io.kompose.service=memcached-{t}",
        ),
    ),
    Breakage(
        "TLS required without a certificate",
        ("geo", "rate"),
        (
            "kubectl -n {ns} patch deployment mongodb-{t} --type=json -p '"
            '[{"op": "replace", "path": "/spec/template/spec/containers/0/args", '
            '"value": ["--auth", "--tlsMode", "requireTLS"]}]\'',
            RESTART,
        ),
        (
            shows("kubectl -n {ns} logs deploy/mongodb-{t}", "need tlsCertificateKeyFile"),
            shows("kubectl -n {ns} get pods", r"^mongodb-{t}-\S+ +0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            users_fail("search", kind="HTTP 500"),
            shows("kubectl -n {ns} logs deploy/{t}", r"PNC cmd/{t}/db.go:\d+ > no reachable servers$"),
            metric('kube_deployment_status_replicas_unavailable{deployment="mongodb-{t}"}', least=1),
        ),
        ("kubectl -n {ns} rollout undo deployment/mongodb-{t}", "sleep 20", RESTART),
    ),
    Breakage(
        "database locked against writes",
        ("reservation",),
        ("kubectl -n {ns} exec deploy/mongodb-{t} -- mongo admin --quiet --eval 'db.fsyncLock()'",),
        (
            users_fail("reserve", kind="timeout"),
            users_fine("search", "recommend", "user"),
            shows(
                "kubectl -n {ns} exec deploy/mongodb-{t} -- mongo admin --quiet --eval 'db.currentOp()'",
                '"fsyncLock" : true',
                '"waitingForLock" : true',
            ),
            logged('pod=~"mongodb-{t}-.*"', "mongod is locked and no writes are allowed"),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +" + UNDISTURBED),
        ),
        ("kubectl -n {ns} exec deploy/mongodb-{t} -- mongo admin --quiet --eval 'db.fsyncUnlock()'",),
    ),
    Breakage(
        "TLS required, with a certificate",
        ("geo", "rate", "profile", "recommendation", "reservation", "user"),
        (_certificate_in_secret(300), _require_tls(), "sleep 10", RESTART),
        (
            its_users_fail(),
            shows("kubectl -n {ns} get pods", r"^mongodb-{t}-\S+ +" + UNDISTURBED),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows("kubectl -n {ns} logs deploy/{t}", r"PNC cmd/{t}/db.go:\d+ > no reachable servers$"),
            logged(
                'pod=~"mongodb-{t}-.*"',
                "SSLHandshakeFailed.*The server is configured to only allow SSL connections",
            ),
            metric('kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"}', least=1),
        ),
        (
            "kubectl -n {ns} rollout undo deployment/mongodb-{t}",
            "kubectl -n {ns} delete secret mongo-tls",
            "sleep 20",
            RESTART,
        ),
    ),
    Breakage(
        "expired certificate",
        ("user", "geo", "rate", "profile", "recommendation", "reservation"),
        (_certificate_in_secret(-5), _require_tls(), "sleep 10", RESTART),
        (
            its_users_fail(),
            shows("kubectl -n {ns} get pods", r"^mongodb-{t}-\S+ +0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            shows(
                "kubectl -n {ns} logs deploy/mongodb-{t}",
                "The provided SSL certificate is expired or not yet valid",
            ),
            shows("openssl x509 -in tls.pem -noout -dates", "notAfter=Dec 31 "),
            metric('kube_deployment_status_replicas_unavailable{deployment="mongodb-{t}"}', least=1),
        ),
        (
            "kubectl -n {ns} rollout undo deployment/mongodb-{t}",
            "kubectl -n {ns} delete secret mongo-tls",
            "sleep 20",
            RESTART,
        ),
    ),
    Breakage(
        "full disk",
        ("reservation", "profile", "user"),
        (
            "kubectl -n {ns} exec deploy/mongodb-{t} -- sh -c "
            "'fallocate -l $(df -B1 --output=avail /data/db | tail -1) /data/db/core.4242'",
        ),
        (
            users_fail("reserve"),
            users_fine("recommend", "user"),
            shows("ssh kind-worker df -h /data/volumes", r" 100% /data/volumes$"),
            logged('pod=~"mongodb-reservation-.*"', "WiredTiger error.*No space left on device"),
            logged('pod=~"mongodb-reservation-.*"', '"Terminating.".*28: No space left on device'),
            metric('sum(kube_pod_container_status_restarts_total{pod=~"mongodb-reservation-.*"})', least=1),
            shows(
                "kubectl -n {ns} get events",
                "Back-off restarting failed container hotel-reserv-reservation-mongo",
            ),
        ),
        (
            "ssh kind-worker rm /data/volumes/{t}-pv/core.4242",
            "sleep 5",
            "kubectl -n {ns} delete pod -l 'io.kompose.service in (mongodb-reservation, reservation)'",
        ),
    ),
    Breakage(
        "killed database",
        ("reservation", "geo", "rate", "profile", "recommendation", "user"),
        ("kubectl -n {ns} exec deploy/mongodb-{t} -- kill 1",),
        (
            shows("kubectl -n {ns} get pods", r"^mongodb-{t}-\S+ +" + RESTARTED),
            shows(
                "kubectl -n {ns} logs -p --tail=80 deploy/mongodb-{t}",
                r'"Received signal","attr":\{"signal":15,"error":"Terminated"',
                r'"Shutting down","attr":\{"exitCode":0',
            ),
            shows(COUNT, "^[4-9]$"),
            metric('sum(kube_pod_container_status_restarts_total{pod=~"mongodb-{t}-.*"})', least=1),
            everyone_fine(),
        ),
        (),
    ),
)

"""Repairs of faults of datastores, of the registry and of programs that use stores too much."""

from __future__ import annotations

from tests.repairs.table import Repairs

IN = "kubectl -n {ns} exec deploy/{t} -- "
ROOT = IN + "mongo admin -u root -p root --quiet --eval "
MONGO = IN + "mongo admin --quiet --eval "
RESTART = "kubectl -n {ns} rollout restart deployment/{t}"
DELETE = "kubectl -n {ns} delete deployment {t}"
UNDO = "kubectl -n {ns} rollout undo deployment/{t} --to-revision=1"
"""Returns to the first revision: the one before may have the mistake too, because components are rolled out again."""
SCALE = "kubectl -n {ns} scale deployment/{t} --replicas=0"
OUT_AND_IN = f"{SCALE}; sleep 15; kubectl -n {{ns}} scale deployment/{{t}} --replicas=1"
RESTART_PODS = "kubectl -n {ns} delete pods --all"
SERVICE = "$(echo {t} | sed s/mongodb-//)"
RESTART_SERVICE = f"kubectl -n {{ns}} rollout restart deployment/{SERVICE}"
DATABASE = f"{SERVICE}-db"
ROLE = f'{{role: "readWrite", db: "\'{DATABASE}\'"}}'
ALL_USERS = '{role: "userAdminAnyDatabase", db: "admin"}'
DROP_ARGUMENTS = (
    "kubectl -n {ns} get deployment {t} -o json | jq 'del(.metadata.resourceVersion, .status) | "
    ".spec.template.spec.containers[0].args |= FILTER' | kubectl replace -f -"
)
LAST_OPTION = '(if (.[-1] | startswith("-")) then .[:-1] else .[:-2] end)'
"""Leaves out the last option, with its value if it has one."""
WITHOUT_TWO = DROP_ARGUMENTS.replace("FILTER", ".[:-2]")
EACH_DATABASE = 'db.getMongo().getDBNames().filter(n => !["admin", "config", "local"].includes(n)).forEach(n => { const o = db.getSiblingDB(n); '
COPY_BACK = (
    'o.getCollectionNames().filter(c => c.endsWith("{suffix}")).forEach(c => { const now = o[c.replace("{suffix}", "")]; '
    "o[c].find().forEach(d => now.replaceOne({_id: d._id}, d, {upsert: true})); o[c].drop(); }) })"
)
AGGREGATE_BACK = (
    'o.getCollectionNames().filter(c => c.endsWith("{suffix}")).forEach(c => { const now = o[c.replace("{suffix}", "")]; '
    "now.insertMany(o[c].find().toArray(), {ordered: false}); }) })"
)
FIELD_BACK = (
    "o.getCollectionNames().map(n => o[n]).forEach(c => c.getIndexes().forEach(i => { const f = Object.keys(i.key)[0]; "
    'if (f.endsWith("{suffix}")) { c.dropIndex(i.name); c.updateMany({}, {$rename: {[f]: f.replace("{suffix}", "")}}); '
    'c.createIndex({[f.replace("{suffix}", "")]: 1}); } })) })'
)
FIELD_BY_FIELD = (
    "o.getCollectionNames().map(n => o[n]).forEach(c => c.getIndexes().forEach(i => { const f = Object.keys(i.key)[0]; "
    'if (f.endsWith("{suffix}")) { c.find().forEach(d => c.updateOne({_id: d._id}, {$set: {[f.replace("{suffix}", "")]: d[f]}})); } })) })'
)

REPAIRS = {
    "rotated_password": Repairs(
        right=(
            f'{ROOT}\'db.changeUserPassword("admin", "admin")\'; {RESTART_SERVICE}',
            f'{ROOT}\'db.updateUser("admin", {{pwd: "admin"}})\'; kubectl -n {{ns}} delete pod -l io.kompose.service={SERVICE}',
            f'{ROOT}\'db.changeUserPassword("admin", "admin")\'',
        ),
        wrong=(
            RESTART_SERVICE,
            f'{ROOT}\'db.changeUserPassword("admin", "secret")\'; {RESTART_SERVICE}',
            f'{ROOT}\'db.createUser({{user: "{SERVICE}", pwd: "admin", roles: [{ROLE}]}})\'; {RESTART_SERVICE}',
            'kubectl -n {ns} patch deployment {t} --type=json -p \'[{"op": "remove", "path": "/spec/template/spec/containers/0/args"}]\'; sleep 15; '
            + RESTART_SERVICE,
        ),
    ),
    "dropped_user": Repairs(
        right=(
            f'{ROOT}\'db.createUser({{user: "admin", pwd: "admin", roles: [{ALL_USERS}, {ROLE}]}})\'; {RESTART_SERVICE}',
            f'{ROOT}\'db.createUser({{user: "admin", pwd: "admin", roles: [{ROLE}]}})\'; {RESTART_SERVICE}',
            f'{ROOT}\'db.createUser({{user: "admin", pwd: "admin", roles: [{ALL_USERS}]}}); db.grantRolesToUser("admin", [{ROLE}])\'',
        ),
        wrong=(
            RESTART_SERVICE,
            f'{ROOT}\'db.createUser({{user: "admin", pwd: "admin", roles: [{ALL_USERS}]}})\'; {RESTART_SERVICE}',
            f'{ROOT}\'db.createUser({{user: "admin", pwd: "changeme", roles: [{ALL_USERS}, {ROLE}]}})\'; {RESTART_SERVICE}',
            RESTART,
        ),
    ),
    "revoked_role": Repairs(
        right=(
            f"{ROOT}'db.grantRolesToUser(\"admin\", [{ROLE}])'; {RESTART_SERVICE}",
            f"{ROOT}'db.updateUser(\"admin\", {{roles: [{ALL_USERS}, {ROLE}]}})'; {RESTART_SERVICE}",
            f'{ROOT}\'db.dropUser("admin"); db.createUser({{user: "admin", pwd: "admin", roles: [{ALL_USERS}, {ROLE}]}})\'; {RESTART_SERVICE}',
        ),
        wrong=(
            RESTART_SERVICE,
            f'{ROOT}\'db.grantRolesToUser("admin", [{{role: "read", db: "\'{DATABASE}\'"}}])\'; {RESTART_SERVICE}',
            f'{ROOT}\'db.changeUserPassword("admin", "admin")\'; {RESTART_SERVICE}',
        ),
    ),
    "locked_database": Repairs(
        right=(
            f"{MONGO}'db.fsyncUnlock()'",
            f"{MONGO}'db.adminCommand({{fsyncUnlock: 1}})'",
            f"{MONGO}'db.fsyncUnlock(); db.fsyncUnlock()'",
        ),
        wrong=(
            f"kubectl -n {{ns}} rollout restart deployment/{SERVICE}",
            f"{MONGO}'db.fsyncLock()'",
            RESTART_PODS,
            DELETE,
        ),
    ),
    "wrong_bind_address": Repairs(
        right=(
            UNDO,
            WITHOUT_TWO,
            DROP_ARGUMENTS.replace("FILTER", '.[:-1] + ["0.0.0.0"]'),
        ),
        wrong=(RESTART, OUT_AND_IN, DROP_ARGUMENTS.replace("FILTER", '.[:-1] + ["127.0.0.2"]'), DELETE),
    ),
    "wrong_port": Repairs(
        right=(
            UNDO,
            WITHOUT_TWO,
            "kubectl -n {ns} get deployment {t} -o json | jq -r '.spec.template.spec.containers[0].args[-1]' > port; "
            'kubectl -n {ns} patch service {t} --type=json -p \'[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": \'$(cat port)\'}]\'',
        ),
        wrong=(
            RESTART,
            OUT_AND_IN,
            'kubectl -n {ns} patch service {t} --type=json -p \'[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}]\'',
        ),
    ),
    "read_only_volume": Repairs(
        right=(
            UNDO,
            "kubectl -n {ns} get deployment {t} -o json | jq 'del(.metadata.resourceVersion, .status) | del(.spec.template.spec.containers[0].volumeMounts[].readOnly)' | kubectl replace -f -",
            'kubectl -n {ns} patch deployment {t} --type=json -p \'[{"op": "remove", "path": "/spec/template/spec/containers/0/volumeMounts/0/readOnly"}]\'',
        ),
        wrong=(
            RESTART,
            OUT_AND_IN,
            'kubectl -n {ns} patch deployment {t} --type=json -p \'[{"op": "remove", "path": "/spec/template/spec/containers/0/volumeMounts/0"}]\'',
        ),
    ),
    "full_volume": Repairs(
        right=(
            "ssh kind-worker rm /data/volumes/reservation-pv/{file}",
            "ssh kind-worker2 rm /data/volumes/reservation-pv/{file}; kubectl -n {ns} delete pod -l 'io.kompose.service in (mongodb-reservation, reservation)'",
            "ssh kind-worker truncate -s 0 /data/volumes/reservation-pv/{file}; sleep 5; kubectl -n {ns} rollout restart deployment/{t}",
        ),
        wrong=(
            RESTART,
            "ssh kind-worker 'rm -rf /data/volumes/reservation-pv/*'; kubectl -n {ns} delete pod -l 'io.kompose.service in (mongodb-reservation, reservation)'",
            SCALE,
        ),
    ),
    "refused_option": Repairs(
        right=(
            DROP_ARGUMENTS.replace("FILTER", LAST_OPTION),
            DROP_ARGUMENTS.replace("FILTER", LAST_OPTION).replace("kubectl replace", "kubectl apply"),
            DROP_ARGUMENTS.replace("FILTER", LAST_OPTION).replace(
                "kubectl replace", "kubectl replace --force"
            ),
        ),
        wrong=(RESTART, OUT_AND_IN, DELETE),
    ),
    "removed_registration": Repairs(
        right=(
            RESTART,
            "kubectl -n {ns} delete pod -l io.kompose.service={t}",
            "for ip in $(kubectl -n {ns} get pods -l io.kompose.service={t} -o jsonpath='{.items[*].status.podIP}'); do kubectl -n {ns} exec deploy/consul -- consul services register -name=srv-{t} -id={t}-$ip -address=$ip -port=$(kubectl -n {ns} get service {t} -o jsonpath='{.spec.ports[0].targetPort}'); done",
        ),
        wrong=(
            "kubectl -n {ns} rollout restart deployment/frontend",
            "kubectl -n {ns} exec deploy/consul -- consul services register -name=srv-{t} -address={t} -port=1",
            RESTART_PODS,
        ),
    ),
    "wrong_registration": Repairs(
        right=(
            "kubectl -n {ns} exec deploy/consul -- consul services deregister -id={t}-{suffix}",
            "kubectl -n {ns} exec deploy/consul -- curl -s -X PUT localhost:8500/v1/agent/service/deregister/{t}-{suffix}",
            "kubectl -n {ns} exec deploy/consul -- consul services deregister -id={t}-{suffix}; kubectl -n {ns} rollout restart deployment/{t}",
        ),
        wrong=(RESTART, "kubectl -n {ns} rollout restart deployment/frontend", SCALE),
    ),
    "restarted_registry": Repairs(
        right=(
            "kubectl -n {ns} rollout restart deployment/geo deployment/rate deployment/profile deployment/search deployment/recommendation deployment/reservation deployment/user",
            "kubectl -n {ns} delete pods -l 'io.kompose.service in (geo, rate, profile, search, recommendation, reservation, user)'",
            "kubectl -n {ns} rollout restart deployment/geo deployment/rate deployment/profile deployment/recommendation deployment/reservation deployment/user; sleep 10; kubectl -n {ns} rollout restart deployment/search deployment/frontend",
        ),
        wrong=(RESTART, "kubectl -n {ns} rollout restart deployment/frontend", RESTART_PODS),
    ),
    "held_connections": Repairs(
        right=(
            "kubectl delete namespace {space}",
            "kubectl -n {space} delete deployment {workload}",
            "kubectl -n {space} scale deployment/{workload} --replicas=0",
        ),
        wrong=(RESTART, "kubectl -n {space} delete pods --all", DELETE),
    ),
    "stalling_client": Repairs(
        right=(
            "kubectl delete namespace {space}",
            "kubectl -n {space} delete deployment {workload}",
            "kubectl -n {space} scale deployment/{workload} --replicas=0",
        ),
        wrong=(RESTART, "kubectl -n {space} delete pods --all", DELETE),
    ),
    "no_memory_left": Repairs(
        right=(
            UNDO,
            DROP_ARGUMENTS.replace("FILTER", ".[:-4]"),
            DROP_ARGUMENTS.replace("FILTER", '.[:-3] + ["256mb"] + .[-2:]'),
        ),
        wrong=(
            RESTART,
            IN + "redis-cli config set maxmemory 0",
            DROP_ARGUMENTS.replace("FILTER", '.[:-3] + ["400kb"] + .[-2:]'),
        ),
    ),
    "failed_snapshots": Repairs(
        right=(
            UNDO,
            'kubectl -n {ns} patch deployment {t} --type=json -p \'[{"op": "remove", "path": "/spec/template/spec/containers/0/securityContext"}]\'',
            DROP_ARGUMENTS.replace("FILTER", ".[:-3]"),
        ),
        wrong=(RESTART, IN + "redis-cli config set stop-writes-on-bgsave-error no", DELETE),
    ),
    "forbidden_commands": Repairs(
        right=(
            IN + "redis-cli acl setuser default +@all",
            RESTART,
            IN + "redis-cli acl setuser default reset on nopass '~*' '&*' +@all",
        ),
        wrong=(
            "kubectl -n {ns} rollout restart deployment/$(echo {t} | sed s/-redis/-service/)",
            IN + "redis-cli acl setuser default +@read",
            RESTART_PODS,
        ),
    ),
    "new_password": Repairs(
        right=(
            RESTART,
            "kubectl -n {ns} delete pod -l service={t}",
            IN + "redis-cli -a {password} config set requirepass ''",
        ),
        wrong=(
            "kubectl -n {ns} rollout restart deployment/$(echo {t} | sed s/-redis/-service/)",
            RESTART_PODS,
            DELETE,
        ),
    ),
    "wrong_data_folder": Repairs(
        right=(UNDO, WITHOUT_TWO, DROP_ARGUMENTS.replace("FILTER", '.[:-1] + ["/data/db"]')),
        wrong=(RESTART, OUT_AND_IN, DROP_ARGUMENTS.replace("FILTER", '.[:-1] + ["/var"]')),
    ),
    "enabled_authorization": Repairs(
        right=(
            UNDO,
            DROP_ARGUMENTS.replace("FILTER", ".[:-1]"),
            DROP_ARGUMENTS.replace("FILTER", '.[:-1] + ["--noauth"]'),
        ),
        wrong=(
            RESTART,
            MONGO + """'db.createUser({user: "admin", pwd: "admin", roles: ["root"]})'""",
            DELETE,
        ),
    ),
    "renamed_collection": Repairs(
        right=(
            MONGO + f"'{EACH_DATABASE}{COPY_BACK}'",
            MONGO + f"'{EACH_DATABASE}{COPY_BACK.replace('o[c].drop()', '0')}'",
            MONGO + f"'{EACH_DATABASE}{AGGREGATE_BACK}'",
        ),
        wrong=(
            MONGO
            + f"'{EACH_DATABASE}o.getCollectionNames().filter(c => c.endsWith(\"{{suffix}}\")).forEach(c => o[c].drop())}})'",
            RESTART_PODS,
            DELETE,
        ),
    ),
    "renamed_field": Repairs(
        right=(
            MONGO + f"'{EACH_DATABASE}{FIELD_BACK}'",
            MONGO + f"'{EACH_DATABASE}{FIELD_BACK.replace('c.dropIndex(i.name); ', '')}'",
            MONGO + f"'{EACH_DATABASE}{FIELD_BY_FIELD}'",
        ),
        wrong=(
            MONGO + f"'{EACH_DATABASE}o.getCollectionNames().forEach(c => o[c].deleteMany({{}}))}})'",
            RESTART_PODS,
            DELETE,
        ),
    ),
    "retry_storm": Repairs(
        right=(
            RESTART,
            f"{UNDO}; kubectl -n {{ns}} rollout undo deployment/frontend --to-revision=1",
            "kubectl -n {ns} scale deployment/frontend --replicas=0; sleep 30; kubectl -n {ns} scale deployment/frontend --replicas=1",
        ),
        wrong=(
            "sleep 60",
            RESTART_PODS,
            SCALE,
            "kubectl -n {ns} rollout restart deployment/geo deployment/rate",
        ),
    ),
}

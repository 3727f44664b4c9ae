"""Repairs of the public release's problems, by the family's name."""

from __future__ import annotations

from tests.repairs import data, network, nodes
from tests.repairs.table import Repairs

K = "kubectl -n {ns}"
RESTART = f"{K} rollout restart deployment/{{t}}"
SCALE_OUT = f"{K} scale deployment/{{t}} --replicas=2"
UNDO = f"{K} rollout undo deployment/{{t}}"
GET = f"{K} get deployment {{t}} -o json"
TEMPLATE = ".spec.template.spec"
CONTAINER = f"{TEMPLATE}.containers[0]"
FROM_CHART = f"helm get manifest social-network -n {{ns}} | {K} apply -f - -l service={{t}}"
OTHER_IMAGE = f"$({K} get deployment search -o jsonpath={{.spec.template.spec.containers[0].image}})"
PORT = f"$({K} get service {{t}} -o jsonpath={{.spec.ports[0].targetPort}})"


def edit(fix: str, verb: str = "replace") -> str:
    """Return the line that changes the target's Deployment with a jq filter."""
    return f"{GET} | jq '{fix}' | {K} {verb} -f -"


def merge(change: str) -> str:
    """Return the line that merges a change into the target's pods."""
    return f'{K} patch deployment {{t}} -p \'{{"spec":{{"template":{{"spec":{change}}}}}}}\''


def change_container(change: str) -> str:
    """Return the line that merges a change into the target's first container."""
    return merge(f'{{"containers":[{{"name":"{{c}}",{change}}}]}}')


def change(path: str, value: str, op: str = "replace", what: str = "deployment {t}") -> str:
    """Return the line that changes one field, with a JSON patch."""
    return f'{K} patch {what} --type=json -p \'[{{"op":"{op}","path":"{path}","value":{value}}}]\''


def remove(path: str) -> str:
    """Return the line that removes one field of the target's Deployment."""
    return f'{K} patch deployment {{t}} --type=json -p \'[{{"op":"remove","path":"{path}"}}]\''


SETTINGS = f"{K} get configmap {{t}} -o json | jq '.data[\"mongod.conf\"] |= FIX' | {K} replace -f -"
PLAIN = SETTINGS.replace("FIX", '(sub("requireTLS"; "disabled") | sub("\\n *certificateKeyFile[^\\n]*"; ""))')
PROBE = "/spec/template/spec/containers/0/livenessProbe"
STORAGE = '"resources":{"limits":{"ephemeral-storage":VALUE}}'
RELEASED = (
    "kubectl get pv -o json | jq -r '.items[] | select(.status.phase == \"Released\") | .metadata.name'"
)
PENDING = f"{K} delete pods --field-selector=status.phase=Pending"
CRASHED = (
    f"sleep 30; {K} get pods -o json | jq -r '.items[] | select(any(.status.containerStatuses[]?; .ready | not)) | .metadata.name'"
    f" | xargs -r {K} delete pod"
)
"""Restarts services that failed while they had no database."""

REPAIRS = {
    "assign_to_non_existent_node_social_net": Repairs(
        right=(
            remove("/spec/template/spec/nodeSelector"),
            edit(f"del({TEMPLATE}.nodeSelector)"),
            f"{K} delete deployment {{t}}; {FROM_CHART}",
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            "kubectl label node kind-worker2 --overwrite kubernetes.io/hostname={node}",
            merge('{"nodeName":"kind-worker"}'),
            merge('{"nodeSelector":{"kubernetes.io/hostname":"kind-worker9"}}'),
        ),
    ),
    "auth_miss_mongodb": Repairs(
        right=(
            f"{PLAIN}; {RESTART}",
            f"{FROM_CHART}; {K} delete pod -l service={{t}}",
            # The database accepts both kinds of connections.
            SETTINGS.replace("FIX", 'sub("requireTLS"; "preferTLS")') + f"; {RESTART}",
        ),
        wrong=(
            RESTART,
            PLAIN,
            f"{K} rollout restart deployment/url-shorten-service",
            SETTINGS.replace("FIX", 'sub("\\n *certificateKeyFile[^\\n]*"; "")') + f"; {RESTART}",
        ),
    ),
    "container_kill": Repairs(
        right=(
            remove(PROBE),
            UNDO,
            change(f"{PROBE}/tcpSocket/port", f"'{PORT}'"),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            change(f"{PROBE}/failureThreshold", "100"),
            change(f"{PROBE}/initialDelaySeconds", "3000", "add"),
        ),
    ),
    "disk_woreout": nodes.HARDWARE,
    "kernel_fault_hotel_reservation": Repairs(
        right=(nodes.DRAIN, nodes.TAKE_OUT, nodes.TAINT, f"{nodes.REBOOT}; {nodes.REGISTER}"),
        wrong=(
            nodes.RESTART,
            nodes.ELSEWHERE,
            "kubectl cordon {node}",
            "ssh {node} systemctl restart containerd kubelet",
        ),
    ),
    "k8s_target_port-misconfig": Repairs(
        right=(
            change("/spec/ports/0/targetPort", "9090", what="service {t}"),
            FROM_CHART,
            f"{K} delete service {{t}}; {K} expose deployment {{t}} --port=9090 --labels=service={{t}},app.kubernetes.io/managed-by=Helm",
        ),
        wrong=(
            RESTART,
            change("/spec/ports/0/targetPort", "9091", what="service {t}"),
            change("/spec/template/spec/containers/0/ports/0/containerPort", "{wrong}"),
            f"{K} delete service {{t}}",
        ),
    ),
    "misconfig_app_hotel_res": Repairs(
        right=(
            UNDO,
            f"{K} set image deployment/{{t}} {{c}}={OTHER_IMAGE}",
            edit('.spec.template.spec.containers[0].image = "{before}"', "apply"),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            f"{K} set env deployment/{{t}} MONGO_ADDRESS=mongodb-{{t}}:27017",
            f"{K} set image deployment/{{t}} {{c}}={{before}}-fixed",
        ),
    ),
    "network_delay_hotel_res": network.REPAIRS["network_delay"],
    "network_loss_hotel_res": network.REPAIRS["network_loss"],
    "pod_failure_hotel_res": Repairs(
        right=(
            RESTART,
            f"{K} get pods -o name | grep ^pod/{{t}}- | xargs {K} delete --grace-period=1",
            f"{K} set image $({K} get pods -l io.kompose.service={{t}} -o name) {{c}}={OTHER_IMAGE}",
        ),
        wrong=(
            f"{K} delete pods --all",
            f"{K} set image deployment/{{t}} {{c}}={{image}}",
            f"{K} scale deployment/{{t}} --replicas=0",
        ),
    ),
    "pod_kill_hotel_res": Repairs(
        right=(
            UNDO,
            edit(f'del({CONTAINER}.resources.limits["ephemeral-storage"])'),
            f"{K} set resources deployment/{{t}} --limits=ephemeral-storage=1Gi --requests=ephemeral-storage=10Mi",
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            # Enough for the first minutes.
            change_container(STORAGE.replace("VALUE", '"100Ki"')),
            f"{K} delete pods --field-selector=status.phase=Failed",
        ),
    ),
    "redeploy_without_PV": Repairs(
        right=(
            f'{RELEASED} | xargs -I@ kubectl patch pv @ --type=json -p \'[{{"op":"remove","path":"/spec/claimRef/uid"}}]\'; {CRASHED}',
            f"for pv in $({RELEASED}); do kubectl get pv $pv -o json | jq 'del(.spec.claimRef, .status, .metadata.uid, .metadata.resourceVersion)'"
            f" > /tmp/pv.json; kubectl replace -f /tmp/pv.json; done; sleep 20; {K} rollout restart deployment/geo deployment/profile"
            " deployment/rate deployment/recommendation deployment/reservation deployment/user",
            f"for pv in $({RELEASED}); do kubectl get pv $pv -o json | jq 'del(.spec.claimRef, .status, .metadata.uid, .metadata.resourceVersion)'"
            f" > /tmp/$pv.json; kubectl delete pv $pv; kubectl create -f /tmp/$pv.json; done; {CRASHED}",
        ),
        wrong=(
            PENDING,
            f"{K} rollout restart deployment",
            # Volumes for some of the databases only.
            f'{RELEASED} | head -3 | xargs -I@ kubectl patch pv @ -p \'{{"spec":{{"claimRef":null}}}}\'',
            f"{RELEASED} | xargs kubectl delete pv",
        ),
    ),
    "revoke_auth_mongodb": data.REPAIRS["revoked_role"],
    "scale_pod_zero_social_net": Repairs(
        right=(
            f"{K} scale deployment/{{t}} --current-replicas=0 --replicas=1",
            f'{K} patch deployment {{t}} -p \'{{"spec":{{"replicas":1}}}}\'',
            edit(".spec.replicas = 1"),
            f"{K} delete deployment {{t}}; {FROM_CHART}",
        ),
        wrong=(
            RESTART,
            UNDO,
            f"{K} scale deployment/{{t}} --replicas=5",
            f"{K} autoscale deployment {{t}} --min=1 --max=2",
        ),
    ),
    "user_unregistered_mongodb": data.REPAIRS["dropped_user"],
    "wrong_bin_usage": Repairs(
        right=(
            UNDO,
            change_container('"command":["{t}"]'),
            edit(f'{CONTAINER}.command = ["{{t}}"]', "apply"),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            remove("/spec/template/spec/containers/0/command"),
            change_container('"command":["rate"]'),
        ),
    ),
}

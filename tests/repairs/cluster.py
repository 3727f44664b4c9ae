"""Repairs of faults in the cluster around a workload: rules for pods, nodes, other teams' workloads, volumes."""

from __future__ import annotations

from tests.repairs.table import Repairs

K = "kubectl -n {ns}"
RETRY = f"{K} rollout restart deployment/{{t}}"
RESTART = f"{K} delete pods --all"
RECREATE = f"{K} get deployment {{t}} -o json | jq 'del(.metadata.uid, .metadata.resourceVersion, .status)' | {K} replace --force -f -"
REPLACE = f"{K} get pods -o json | jq -r '.items[] | select(.status.containerStatuses[0].ready | not) | .metadata.name' | xargs {K} delete pod"
RETRY_UNREADY = (
    f"{K} get deployments -o json | jq -r '.items[] | select(.spec.replicas > (.status.readyReplicas // 0)) | .metadata.name'"
    f" | xargs {K} rollout restart deployment"
)
"""Another team may have scaled a second Deployment, whose new pod has met the fault."""
WORKERS = "kubectl get nodes -o name -l '!node-role.kubernetes.io/control-plane'"
GUARD = "validatingwebhookconfiguration {engine}"
RULE = "validatingadmissionpolicy/{policy} validatingadmissionpolicybinding/{policy}"
BATCH = "kubectl -n {space}"
LESS = f"{K} set resources deployment/{{t}} --requests=cpu=50m"


def patch(what: str, change: str, how: str = "merge", where: str = K) -> str:
    return f"{where} patch {what} --type={how} -p '{change}'"


def pods(change: str) -> str:
    """Return the line that merges a change into the pods of the target."""
    return patch("deployment {t}", f'{{"spec":{{"template":{{"spec":{change}}}}}}}')


def released(field: str, *right: str, wrong: tuple[str, ...]) -> Repairs:
    """Return the repairs of a wrong release of the target, which has a field of its pods that must go."""
    remove = f"{K} get deployment {{t}} -o json | jq 'del(.spec.template.spec.{field})' | {K} replace -f -"
    return Repairs((remove, *right), (RESTART, f"{K} scale deployment/{{t}} --replicas=3", *wrong))


def claimed(*wrong: str) -> Repairs:
    """Return the repairs of a claim that is not bound to the volume of the database."""
    stop, start = (f"{K} scale deployment/{{t}} --replicas={count}" for count in (0, 1))
    spec = '{"storageClassName":"\'$class\'","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}VOLUME}'
    claim = (
        "class=$(kubectl get pv {volume} -o jsonpath={.spec.storageClassName}); echo "
        f'\'{{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"{{claim}}","labels":{{"io.kompose.service":"{{t}}"}}}},"spec":{spec}}}\' | {K} apply -f -'
    )
    any_volume, own_volume = (claim.replace("VOLUME", name) for name in ("", ',"volumeName":"{volume}"'))
    free = 'kubectl patch pv {volume} --type=json -p \'[{"op":"remove","path":"/spec/claimRef"}]\''
    gone = f"{K} delete pvc {{claim}} --ignore-not-found"
    anew = (
        "kubectl get pv {volume} -o json | jq 'del(.metadata.uid, .metadata.resourceVersion, .spec.claimRef, .spec.nodeAffinity, .status)'"
        " > /tmp/pv.json; kubectl delete pv {volume}; kubectl create -f /tmp/pv.json"
    )
    return Repairs(
        (
            f"{stop}; {gone}; {anew}; {any_volume}; {start}",
            f"{stop}; {gone}; {anew}; {own_volume}; {start}; sleep 20; {K} delete pods --field-selector=status.phase=Failed",
            f"{gone} --wait=false; {stop}; sleep 30; {anew}; {own_volume}; {start}",
        ),
        (
            RESTART,
            f"{stop}; {start}",
            # An empty volume in place of the one with the data.
            f"{stop}; {gone}; {any_volume.replace('$class', 'standard')}; {start}",
            pods('{"volumes":null}'),
            *(line.replace("FREE", free) for line in wrong),
        ),
    )


REPAIRS = {
    "quota_on_pods": Repairs(
        (
            f"{K} delete quota {{quota}}; {RETRY}",
            f"{K} delete quota {{quota}}; {RECREATE}",
            patch("quota {quota}", '{"spec":{"hard":{"pods":"80"}}}') + f"; {RETRY}",
        ),
        (
            RESTART,
            patch("quota {quota}", '{"spec":{"hard":{"pods":"16"}}}') + f"; {RETRY}",
            f"{K} scale deployment/jaeger --replicas=0; {RETRY}",
            f"{K} delete quota {{quota}}; {K} scale deployment/{{t}} --replicas=0",
        ),
    ),
    "quota_on_memory": Repairs(
        (
            f"{K} delete quota {{quota}}; {RETRY}",
            f"{K} delete quota {{quota}}; {RECREATE}",
            patch("quota {quota}", '{"spec":{"hard":{"{bound}":null,"pods":"100"}}}') + f"; {RETRY}",
        ),
        (
            RESTART,
            RECREATE,
            patch("quota {quota}", '{"spec":{"hard":{"{bound}":"900Gi"}}}') + f"; {RETRY}",
            f"{K} set resources deployment/{{t}} --limits=memory=512Mi --requests=memory=256Mi",
        ),
    ),
    "quota_on_cpu": Repairs(
        (
            f"{K} delete quota {{quota}}; {RETRY}",
            f"{K} delete quota --all; {K} delete pods -l nothing=here; {RECREATE}",
            patch("quota {quota}", '{"spec":{"hard":{"limits.cpu":null,"requests.cpu":"64"}}}', "merge")
            + f"; {K} delete quota {{quota}}",
        ),
        (
            RESTART,
            RECREATE,
            f"{K} set resources deployment/{{t}} --limits=cpu=100m",
            patch("quota {quota}", '{"spec":{"hard":{"limits.cpu":"9"}}}') + f"; {RETRY}",
        ),
    ),
    "strict_limit_range": Repairs(
        (
            f"{K} delete limitrange {{limit_range}}; {RETRY}",
            f"{K} delete limitrange --all; {RECREATE}",
            patch("limitrange {limit_range}", '{"spec":{"limits":[{"type":"Container","max":{"cpu":"8"}}]}}')
            + f"; {RETRY}",
        ),
        (
            RESTART,
            RECREATE,
            f"{K} set resources deployment/{{t}} --limits=cpu=100m --requests=cpu=50m",
            f"{K} delete limitrange {{limit_range}}; {K} delete deployment {{t}}",
        ),
    ),
    "tiny_default_limits": Repairs(
        (
            f"{K} delete limitrange {{limit_range}}; {RETRY_UNREADY}",
            f"{K} delete limitrange {{limit_range}}; {REPLACE}",
            patch(
                "limitrange {limit_range}",
                '{"spec":{"limits":[{"type":"Container","default":{"memory":"1Gi"}}]}}',
            )
            + f"; {REPLACE}",
        ),
        (
            RESTART,
            f"{K} delete limitrange {{limit_range}}",
            f"{K} set resources deployment/{{t}} --limits=memory=512Mi",
            patch(
                "limitrange {limit_range}",
                '{"spec":{"limits":[{"type":"Container","default":{"memory":"14Mi"}}]}}',
            )
            + f"; {RETRY}",
        ),
    ),
    "strict_pod_security": Repairs(
        (
            "kubectl label namespace {ns} pod-security.kubernetes.io/enforce-; " + RETRY,
            "kubectl label namespace {ns} --overwrite pod-security.kubernetes.io/enforce=privileged; "
            + RETRY,
            "kubectl label namespace {ns} pod-security.kubernetes.io/enforce- pod-security.kubernetes.io/enforce-version- "
            "pod-security.kubernetes.io/warn=restricted; " + RECREATE,
        ),
        (
            RESTART,
            "kubectl label namespace {ns} --overwrite pod-security.kubernetes.io/enforce-version=v1.30; "
            + RETRY,
            pods('{"securityContext":{"runAsNonRoot":true,"runAsUser":1000}}'),
            "kubectl label namespace {ns} --all pod-security.kubernetes.io/enforce=restricted",
        ),
    ),
    "dead_webhook": Repairs(
        (
            f"kubectl delete {GUARD}; {RETRY}",
            patch(GUARD, '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]', "json")
            + f"; {RETRY}",
            f"kubectl delete {GUARD}; kubectl delete namespace {{engine}}; {RECREATE}",
        ),
        (
            RESTART,
            "kubectl -n {engine} delete service {engine}; " + RETRY,
            patch(GUARD, '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":1}]', "json")
            + f"; {RETRY}",
            "kubectl -n {engine} create deployment {engine} --image=nginx:1.27; sleep 20; " + RETRY,
        ),
    ),
    "strict_admission_policy": Repairs(
        (
            f"kubectl delete validatingadmissionpolicybinding {{policy}}; {RETRY}",
            patch(
                "validatingadmissionpolicybinding {policy}", '{"spec":{"validationActions":["Warn","Audit"]}}'
            )
            + f"; {RETRY}",
            f"kubectl delete {RULE}; {RECREATE}",
        ),
        (
            RESTART,
            RECREATE,
            f"{K} set resources deployment/{{t}} --limits=memory=512Mi",
            "kubectl delete namespace {ns}",
        ),
    ),
    "cordoned_nodes": Repairs(
        (
            f"{WORKERS} | xargs -n1 kubectl uncordon",
            f"kubectl get nodes -o name | xargs kubectl uncordon; {RETRY}",
            f'{WORKERS} | xargs -I@ kubectl patch @ -p \'{{"spec":{{"unschedulable":false}}}}\'',
        ),
        (
            RESTART,
            "kubectl uncordon {node}",
            pods('{"tolerations":[{"key":"node.kubernetes.io/unschedulable","operator":"Exists"}]}'),
        ),
    ),
    "tainted_nodes": Repairs(
        (
            "kubectl taint nodes -l '!node-role.kubernetes.io/control-plane' {key}-",
            "kubectl taint nodes --all {key}={value}:NoSchedule-; true",
            f'{WORKERS} | xargs -I@ kubectl patch @ --type=json -p \'[{{"op":"remove","path":"/spec/taints"}}]\'',
        ),
        (
            RESTART,
            "kubectl taint nodes {node} {key}-",
            pods('{"tolerations":[{"operator":"Exists"}]}'),
            "kubectl taint nodes kind-control-plane node-role.kubernetes.io/control-plane-",
        ),
    ),
    "wrong_node_affinity": released(
        "affinity",
        pods('{"affinity":null}'),
        patch("deployment {t}", '[{"op":"remove","path":"/spec/template/spec/affinity"}]', "json"),
        wrong=(
            "kubectl label node kind-worker {label} && " + RETRY,
            pods('{"nodeName":"kind-worker"}'),
        ),
    ),
    "unsatisfiable_spread": released(
        "topologySpreadConstraints",
        pods('{"topologySpreadConstraints":null}'),
        patch(
            "deployment {t}",
            '[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints/0/topologyKey","value":"kubernetes.io/hostname"}]',
            "json",
        ),
        patch(
            "deployment {t}",
            '[{"op":"replace","path":"/spec/template/spec/topologySpreadConstraints/0/whenUnsatisfiable","value":"ScheduleAnyway"}]',
            "json",
        ),
        wrong=("kubectl label nodes --all {topology_key}=a && " + RETRY,),
    ),
    "anti_affinity_deadlock": released(
        "affinity",
        pods('{"affinity":null}'),
        patch(
            "deployment {t}",
            '[{"op":"replace","path":"/spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/topologyKey",'
            '"value":"kubernetes.io/hostname"}]',
            "json",
        ),
        wrong=(pods('{"nodeSelector":{"kubernetes.io/hostname":"kind-worker"}}'),),
    ),
    "taken_host_port": released(
        "containers[0].ports[0].hostPort",
        patch(
            "deployment {t}",
            '[{"op":"remove","path":"/spec/template/spec/containers/0/ports/0/hostPort"}]',
            "json",
        ),
        patch(
            "deployment {t}",
            '[{"op":"replace","path":"/spec/template/spec/containers/0/ports/0/hostPort","value":18080}]',
            "json",
        ),
        wrong=("kubectl -n monitoring delete daemonset node-exporter",),
    ),
    "missing_service_account": released(
        "serviceAccountName, .spec.template.spec.serviceAccount",
        f"{K} create serviceaccount {{t}}-{{suffix}}; {RETRY}",
        pods('{"serviceAccountName":"default","serviceAccount":"default"}'),
        wrong=(f"{K} create serviceaccount {{t}}; {RETRY}",),
    ),
    "missing_priority_class": released(
        "priorityClassName",
        f"kubectl create priorityclass {{priority_class}} --value=1000; {RETRY}",
        pods('{"priorityClassName":null}'),
        wrong=(f"kubectl create priorityclass other --value=1000; {RETRY}",),
    ),
    "missing_scheduler": released(
        "schedulerName",
        pods('{"schedulerName":"default-scheduler"}'),
        pods('{"schedulerName":null}'),
        wrong=(pods('{"schedulerName":"kube-scheduler"}'),),
    ),
    "forgotten_scheduling_gate": released(
        "schedulingGates",
        pods('{"schedulingGates":null}'),
        patch("deployment {t}", '[{"op":"remove","path":"/spec/template/spec/schedulingGates"}]', "json"),
        wrong=(
            # Only the pod that waits now, not the next one.
            f'{K} get pods -o name | xargs -I@ {K} patch @ --type=json -p \'[{{"op":"remove","path":"/spec/schedulingGates"}}]\'',
        ),
    ),
    "missing_device": released(
        "containers[0].resources",
        patch(
            "deployment {t}",
            '{"spec":{"template":{"spec":{"containers":[{"name":"{c}","resources":'
            '{"limits":{"{device}":null},"requests":{"{device}":null}}}]}}}}',
            "strategic",
        ),
        f"{K} get deployment {{t}} -o json | jq 'del(.spec.template.spec.containers[0].resources[][\"{{device}}\"])' | {K} replace -f -",
        wrong=(
            patch(
                "deployment {t}",
                '{"spec":{"template":{"spec":{"containers":[{"name":"{c}","resources":'
                '{"limits":{"{device}":"2"},"requests":{"{device}":"2"}}}]}}}}',
                "strategic",
            ),
        ),
    ),
    "unmet_readiness_gate": released(
        "readinessGates",
        pods('{"readinessGates":null}'),
        patch("deployment {t}", '[{"op":"remove","path":"/spec/template/spec/readinessGates"}]', "json"),
        wrong=(patch("service {t}", '{"spec":{"publishNotReadyAddresses":true}}'),),
    ),
    "finalizer_deadlock": Repairs(
        (
            f"{K} get deployment {{t}} -o json | jq 'del(.metadata.uid, .metadata.resourceVersion, .metadata.finalizers, "
            ".metadata.deletionTimestamp, .metadata.deletionGracePeriodSeconds, .status)' > /tmp/t.json; "
            + patch("deployment {t}", '{"metadata":{"finalizers":null}}')
            + f"; {K} create -f /tmp/t.json",
            f"{K} get deployment {{t}} -o json | jq 'del(.metadata.finalizers)' > /tmp/t.json; {K} replace -f /tmp/t.json; sleep 5; "
            "jq 'del(.metadata.uid, .metadata.resourceVersion, .metadata.deletionTimestamp, .metadata.deletionGracePeriodSeconds, "
            f".status)' /tmp/t.json | {K} create -f -",
            f"{K} get deployment {{t}} -o json > /tmp/t.json; "
            + patch("deployment {t}", '[{"op":"remove","path":"/metadata/finalizers"}]', "json")
            + "; jq '{apiVersion, kind, metadata: (.metadata | {name, namespace, labels, annotations}), spec}' /tmp/t.json | "
            f"{K} create -f -",
        ),
        (
            RESTART,
            RETRY,
            patch("deployment {t}", '{"metadata":{"finalizers":null}}'),
            f"timeout 20 {K} delete deployment {{t}} --force --grace-period=0",
        ),
    ),
    "undoing_cron_job": Repairs(
        (
            f"{BATCH} delete cronjob {{job}}; {K} scale deployment/{{t}} --replicas=2",
            f'{BATCH} patch cronjob {{job}} -p \'{{"spec":{{"suspend":true}}}}\'; {K} scale deployment/{{t}} --replicas=2',
            f"{K} delete rolebinding {{job}}; {K} scale deployment/{{t}} --replicas=2",
            f"kubectl delete namespace {{space}}; {K} scale deployment/{{t}} --replicas=2",
            f"{BATCH} get cronjob {{job}} -o json | jq '.spec.jobTemplate.spec.template.spec.containers[0].command = [\"true\"]'"
            f" | {BATCH} replace -f -; {K} scale deployment/{{t}} --replicas=2",
            f"{K} create role {{job}} --verb=get --resource=deployments.apps/scale --dry-run=client -o yaml | {K} apply -f -; "
            f"{K} scale deployment/{{t}} --replicas=2",
        ),
        (
            # It runs less often, and still undoes the repair.
            f'{BATCH} patch cronjob {{job}} -p \'{{"spec":{{"schedule":"45 * * * *"}}}}\'; {K} scale deployment/{{t}} --replicas=2',
            f"{K} scale deployment/{{t}} --replicas=2",
            f"{BATCH} delete jobs --all; {K} scale deployment/{{t}} --replicas=2",
            f"{BATCH} delete cronjob {{job}}",
            RESTART,
        ),
    ),
    "crowded_nodes": Repairs(
        (
            f"{BATCH} delete deployment {{batch}}",
            f"{BATCH} scale deployment/{{batch}} --replicas=2",
            "kubectl delete namespace {space}",
            LESS,
        ),
        (
            RESTART,
            RECREATE,
            f"{BATCH} delete pods --all",
            f"{K} scale deployment/jaeger --replicas=0",
        ),
    ),
    "preempting_batch": Repairs(
        (
            f"{BATCH} delete deployment {{batch}}; kubectl delete priorityclass {{priority_class}}",
            f"{BATCH} scale deployment/{{batch}} --replicas=2",
            f"{BATCH} set resources deployment/{{batch}} --requests=cpu=100m",
            LESS,
        ),
        (
            RESTART,
            RECREATE,
            "kubectl delete priorityclass {priority_class}",
            f"{BATCH} delete pods --all",
        ),
    ),
    "deleted_claim": claimed("FREE"),
    "unbound_claim": claimed(f"{K} delete pvc {{claim}}"),
    "wrong_storage_class": claimed("FREE"),
    "wrong_claim_access": claimed("FREE"),
    "oversized_claim": claimed(
        "FREE", patch("pv {volume}", '{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}')
    ),
    "wrong_volume_node_affinity": claimed("FREE", "kubectl delete pv {volume} --wait=false"),
}

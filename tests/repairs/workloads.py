"""Repairs of faults in Deployments, their containers and their configuration."""

from __future__ import annotations

from tests.repairs.table import Repairs

RESTART = "kubectl -n {ns} rollout restart deployment/{t}"
SCALE_OUT = "kubectl -n {ns} scale deployment/{t} --replicas=3"
COMMAND = (
    "kubectl -n {ns} get deployment {t} -o jsonpath='{.spec.template.spec.containers[0].command[0]}'"
    " | sed -E 's#^(/app/|/opt/bin/|run-)##; s/(-server|d)$//'"
)
"""Prints the program that a mistaken command means."""
PROGRAM = (
    "if [ {ns} = test-social-network ]; then echo {t} | sed -E 's/(^|-)([a-z])/\\U\\2/g'; else echo {t}; fi"
)
"""Prints the program of a service."""
PORT = "kubectl -n {ns} get deployment {t} -o jsonpath='{.spec.template.spec.containers[0].ports[0].containerPort}'"
IMAGE = (
    "kubectl -n {ns} get deployments -o json | jq -r '.items[].spec.template.spec.containers[0].image'"
    " | grep \"^$(kubectl -n {ns} get deployment {t} -o json | jq -r '.spec.template.spec.containers[0].image' | cut -d: -f1)\""
    " | grep -v ':{tag}$' | head -1 | grep . || echo yg397/openresty-thrift:xenial"
)
"""Prints the image of another workload from the same repository."""
BEFORE = (
    "kubectl -n {ns} get events --field-selector involvedObject.name={t} | grep -o 'from [0-9]* to 0'"
    " | tail -1 | cut -d' ' -f2"
)
"""Prints the number of pods before a Deployment was scaled to zero."""
REMAKE = (
    "if [ {ns} = test-social-network ]; then helm get manifest social-network -n {ns} | kubectl -n {ns} apply -f - -l service={t};"
    " else like=$([ {t} = search ] && echo geo || echo search); kubectl -n {ns} get deployment $like -o json"
    ' | jq "del(.metadata.uid, .metadata.resourceVersion, .status) | .spec.replicas = 2" | sed "s/$like/{t}/g"'
    " | kubectl -n {ns} VERB -f -; fi; kubectl -n {ns} scale deployment/{t} --replicas=2"
)
"""Makes a service's Deployment anew, like that of another one."""


def merge(change: str) -> str:
    """The line that merges a change into a Deployment's pods."""
    return f'kubectl -n {{ns}} patch deployment {{t}} -p \'{{"spec":{{"template":{{"spec":{change}}}}}}}\''


def change_container(change: str) -> str:
    """The line that merges a change into the first container; ``change`` is without its braces."""
    return merge(f'{{"containers":[{{"name":"{{c}}",{change}}}]}}')


def remove(path: str) -> str:
    """The line that removes a field of the pods."""
    return f'kubectl -n {{ns}} patch deployment {{t}} --type=json -p \'[{{"op":"remove","path":"/spec/template/spec/{path}"}}]\''


def rewrite(script: str, before: str = "") -> str:
    """The line that replaces a Deployment by one that a script of jq changed; ``.`` is the specification of its pods."""
    return (
        f"{before}kubectl -n {{ns}} get deployment {{t}} -o json"
        f" | jq '.spec.template.spec |= ({script})' | kubectl -n {{ns}} replace -f -"
    )


def with_value(command: str, line: str) -> str:
    """The line with ``VALUE`` replaced by the output of a command."""
    return f"value=$({command}); " + line.replace("VALUE", "'$value'")


SKIP_INIT = Repairs(
    right=(
        remove("initContainers"),
        rewrite("del(.initContainers)"),
        merge('{"initContainers":[{"name":"{step}","command":["true"]}]}'),
    ),
    wrong=(
        RESTART,
        SCALE_OUT,
        merge('{"initContainers":[{"name":"{step}","command":["sh","-c","sleep 3; exit 1"]}]}'),
    ),
)

REPAIRS = {
    "missing_secret": Repairs(
        right=(
            remove("containers/0/envFrom"),
            rewrite("del(.containers[0].envFrom)"),
            change_container('"envFrom":[{"secretRef":{"name":"{t}-{suffix}","optional":true}}]'),
        ),
        wrong=(RESTART, SCALE_OUT, "kubectl -n {ns} create secret generic {t}-{suffix}"),
    ),
    "missing_config_map": Repairs(
        right=(
            rewrite('del((.volumes[], .containers[0].volumeMounts[]) | select(.name == "{suffix}"))'),
            merge(
                '{"volumes":[{"name":"{suffix}","$patch":"delete"}],"containers":[{"name":"{c}",'
                '"volumeMounts":[{"mountPath":"/etc/{suffix}","$patch":"delete"}]}]}'
            ),
            merge('{"volumes":[{"name":"{suffix}","configMap":{"optional":true}}]}'),
        ),
        wrong=(RESTART, SCALE_OUT, "kubectl -n {ns} create configmap {t}-{suffix}"),
    ),
    "missing_claim": Repairs(
        right=(
            rewrite('del((.volumes[], .containers[0].volumeMounts[]) | select(.name == "{use}"))'),
            merge('{"volumes":[{"name":"{use}","persistentVolumeClaim":null,"emptyDir":{}}]}'),
            'echo \'{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"{t}-{use}"},"spec":'
            '{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"100Mi"}}}}\' | kubectl -n {ns} apply -f -',
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            merge('{"volumes":[{"name":"{use}","persistentVolumeClaim":{"claimName":"{t}-{use}-0"}}]}'),
        ),
    ),
    "memory_limit": Repairs(
        right=(
            "kubectl -n {ns} set resources deployment/{t} --limits=memory=512Mi --requests=memory=128Mi",
            rewrite("del(.containers[0].resources.limits.memory, .containers[0].resources.requests.memory)"),
            change_container('"resources":{"limits":{"memory":"1Gi"}}'),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            "kubectl -n {ns} set resources deployment/{t} --limits=memory=5Mi --requests=memory=5Mi",
        ),
    ),
    "huge_request": Repairs(
        right=(
            "kubectl -n {ns} set resources deployment/{t} --requests=cpu=100m,memory=64Mi --limits=cpu=1,memory=1Gi",
            rewrite('.containers[0].resources = {requests: {cpu: "100m"}}'),
            remove("containers/0/resources"),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            "kubectl -n {ns} set resources deployment/{t} --requests=cpu=50,memory=400Gi --limits=cpu=50,memory=400Gi",
        ),
    ),
    "missing_command": Repairs(
        right=(
            with_value(COMMAND, change_container('"command":["VALUE"]')),
            rewrite(".containers[0].command = [env.value]", f"export value=$({COMMAND}); "),
            with_value(
                COMMAND,
                'kubectl -n {ns} patch deployment {t} --type=json -p \'[{"op":"replace",'
                '"path":"/spec/template/spec/containers/0/command/0","value":"VALUE"}]\'',
            ),
        ),
        wrong=(RESTART, remove("containers/0/command"), change_container('"command":["sleep","infinity"]')),
    ),
    "waiting_init": SKIP_INIT,
    "failing_init": SKIP_INIT,
    "root_forbidden": Repairs(
        right=(
            rewrite("del(.securityContext, .containers[0].securityContext)"),
            merge('{"securityContext":null,"containers":[{"name":"{c}","securityContext":null}]}'),
            merge(
                '{"securityContext":{"runAsNonRoot":false},"containers":[{"name":"{c}","securityContext":{"runAsNonRoot":false}}]}'
            ),
        ),
        wrong=(RESTART, SCALE_OUT, merge('{"securityContext":{"runAsUser":0}}')),
    ),
    "wrong_pull_policy": Repairs(
        right=(
            with_value(IMAGE, change_container('"image":"VALUE","imagePullPolicy":"IfNotPresent"')),
            with_value(IMAGE, change_container('"image":"VALUE","imagePullPolicy":"Always"')),
            rewrite(
                ".containers[0].image = env.value | del(.containers[0].imagePullPolicy)",
                f"export value=$({IMAGE}); ",
            ),
        ),
        wrong=(RESTART, SCALE_OUT, change_container('"imagePullPolicy":"Always"')),
    ),
    "wrong_image": Repairs(
        right=(
            f"kubectl -n {{ns}} set image deployment/{{t}} {{c}}=$({IMAGE})",
            rewrite(".containers[0].image = env.value", f"export value=$({IMAGE}); "),
            rewrite(".containers[0].image = env.value", f"export value=$({IMAGE}); ").replace(
                "replace -f", "replace --force -f"
            ),
        ),
        wrong=(
            RESTART,
            change_container('"imagePullPolicy":"Never"'),
            "kubectl -n {ns} set image deployment/{t} {c}=nginx:1.27",
            "kubectl -n {ns} set image deployment/{t} {c}=$(kubectl -n {ns} get deployment {t}"
            " -o jsonpath={.spec.template.spec.containers[0].image})-1",
        ),
    ),
    "missing_node": Repairs(
        right=(
            remove("nodeSelector"),
            merge('{"nodeSelector":null}'),
            merge('{"nodeSelector":{"$patch":"replace","kubernetes.io/os":"linux"}}'),
        ),
        wrong=(RESTART, SCALE_OUT, "kubectl label nodes --all --overwrite {label}"),
    ),
    "deleted_deployment": Repairs(
        right=tuple(REMAKE.replace("VERB", verb) for verb in ("create", "apply", "replace --force")),
        wrong=(
            "kubectl -n {ns} rollout restart deployment",
            "kubectl -n {ns} create deployment {t} --image=nginx:1.20",
            "kubectl -n {ns} delete service {t}",
        ),
    ),
    "scaled_to_zero": Repairs(
        right=(
            f"kubectl -n {{ns}} scale deployment/{{t}} --replicas=$({BEFORE})",
            with_value(BEFORE, 'kubectl -n {ns} patch deployment {t} -p \'{"spec":{"replicas":VALUE}}\''),
            f'n=$({BEFORE}); kubectl -n {{ns}} get deployment {{t}} -o json | jq ".spec.replicas = $n" | kubectl replace -f -',
        ),
        wrong=(
            RESTART,
            "kubectl -n {ns} rollout undo deployment/{t}",
            "kubectl -n {ns} autoscale deployment {t} --max=2",
        ),
    ),
    "cpu_limit": Repairs(
        right=(
            "kubectl -n {ns} set resources deployment/{t} --limits=cpu=1 --requests=cpu=100m",
            rewrite("del(.containers[0].resources.limits.cpu)"),
            change_container('"resources":{"limits":{"cpu":"2"}}'),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            "kubectl -n {ns} set resources deployment/{t} --limits=cpu=2m --requests=cpu=2m",
        ),
    ),
    "failing_liveness_probe": Repairs(
        right=(
            remove("containers/0/livenessProbe"),
            with_value(PORT, change_container('"livenessProbe":{"tcpSocket":{"port":VALUE}}')),
            change_container('"livenessProbe":{"tcpSocket":null,"exec":{"command":["true"]}}'),
        ),
        wrong=(
            RESTART,
            change_container('"livenessProbe":{"failureThreshold":100}'),
            change_container('"livenessProbe":{"tcpSocket":{"port":1},"initialDelaySeconds":900}'),
            change_container(
                '"livenessProbe":{"tcpSocket":null,"httpGet":{"path":"/health","port":1},"initialDelaySeconds":3000}'
            ),
        ),
    ),
    "failing_readiness_probe": Repairs(
        right=(
            remove("containers/0/readinessProbe"),
            with_value(PORT, change_container('"readinessProbe":{"tcpSocket":{"port":VALUE}}')),
            change_container('"readinessProbe":null'),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            change_container('"readinessProbe":{"tcpSocket":{"port":1},"failureThreshold":100}'),
        ),
    ),
    "sidecar_port_clash": Repairs(
        right=(
            remove("initContainers"),
            rewrite("del(.initContainers)"),
            merge('{"initContainers":[{"name":"{sidecar}","args":["-m","32","-p","11299"]}]}'),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            merge('{"initContainers":[{"name":"{sidecar}","image":"memcached:latest"}]}'),
        ),
    ),
    "wrong_user": Repairs(
        right=(
            rewrite("del(.securityContext)"),
            merge('{"securityContext":{"runAsUser":999}}'),
            merge('{"securityContext":{"runAsUser":null,"runAsNonRoot":null}}'),
        ),
        wrong=(
            RESTART,
            merge('{"securityContext":{"runAsUser":1002}}'),
            merge('{"securityContext":{"fsGroup":999}}'),
        ),
    ),
    "unwritable_root": Repairs(
        right=(
            remove("containers/0/securityContext"),
            change_container('"securityContext":{"readOnlyRootFilesystem":false}'),
            rewrite("del(.containers[0].securityContext.readOnlyRootFilesystem)"),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            change_container('"securityContext":{"allowPrivilegeEscalation":true,"privileged":true}'),
        ),
    ),
    "wrong_arguments": Repairs(
        right=(
            rewrite('.containers[0].args -= ["{option}"]'),
            rewrite(".containers[0].args |= .[:-1]"),
            rewrite('del(.containers[0].args[] | select(. == "{option}"))'),
        ),
        wrong=(RESTART, SCALE_OUT, rewrite('.containers[0].args += ["--quite"]')),
    ),
    "wrong_program": Repairs(
        right=(
            with_value(PROGRAM, change_container('"command":["VALUE"]')),
            rewrite(".containers[0].command = [env.value]", f"export value=$({PROGRAM}); "),
            with_value(
                PROGRAM,
                'kubectl -n {ns} patch deployment {t} --type=json -p \'[{"op":"replace",'
                '"path":"/spec/template/spec/containers/0/command/0","value":"VALUE"}]\'',
            ),
        ),
        wrong=(RESTART, SCALE_OUT, remove("containers/0/command")),
    ),
    "small_storage_limit": Repairs(
        right=(
            change_container(
                '"resources":{"limits":{"ephemeral-storage":"1Gi"},"requests":{"ephemeral-storage":"1Mi"}}'
            ),
            rewrite('del(.containers[0].resources.limits["ephemeral-storage"])'),
            change_container('"resources":{"limits":{"ephemeral-storage":null}}'),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            "kubectl -n {ns} delete pods --field-selector=status.phase=Failed",
            # Enough for the first minutes.
            change_container('"resources":{"limits":{"ephemeral-storage":"100Ki"}}'),
        ),
    ),
    "hidden_files": Repairs(
        right=(
            rewrite('del((.volumes[], .containers[0].volumeMounts[]) | select(.name == "{volume}"))'),
            rewrite(
                '(.containers[0].volumeMounts[] | select(.name == "{volume}") | .mountPath) = "/var/{volume}"'
            ),
            rewrite('del(.containers[0].volumeMounts[] | select(.name == "{volume}"))'),
        ),
        wrong=(
            RESTART,
            SCALE_OUT,
            merge('{"volumes":[{"name":"{volume}","emptyDir":{"medium":"Memory"}}]}'),
        ),
    ),
    "wrong_host_alias": Repairs(
        right=(
            remove("hostAliases"),
            rewrite("del(.hostAliases)"),
            merge('{"hostAliases":null}'),
        ),
        wrong=(RESTART, SCALE_OUT, rewrite('.hostAliases[0].ip = "10.0.14.23"')),
    ),
    "wrong_tls_switch": Repairs(
        right=(
            "kubectl -n {ns} set env deployment/{t} TLS-",
            "kubectl -n {ns} set env deployment/{t} TLS=0",
            rewrite('del(.containers[0].env[] | select(.name == "TLS"))'),
        ),
        wrong=(
            RESTART,
            "kubectl -n {ns} set env deployment/{t} TLS=2",
            "kubectl -n {ns} set env deployment/frontend TLS=1",
        ),
    ),
    "wrong_pod_image": Repairs(
        right=(
            RESTART,
            "kubectl -n {ns} get pods -o name | grep ^pod/{t}- | xargs kubectl -n {ns} delete",
            "image=$(kubectl -n {ns} get deployment {t} -o json | jq -r '.spec.template.spec.containers[0].image');"
            " for pod in $(kubectl -n {ns} get pods -o name | grep ^pod/{t}-); do kubectl -n {ns} set image $pod {c}=$image; done",
        ),
        wrong=(
            "kubectl -n {ns} delete pods --all",
            "kubectl -n {ns} scale deployment/{t} --replicas=0",
            "kubectl -n {ns} rollout pause deployment/{t}",
        ),
    ),
    "partial_rollout": Repairs(
        right=(
            "kubectl -n {ns} rollout resume deployment/{t}; kubectl -n {ns} rollout undo deployment/{t} --to-revision=1",
            rewrite("del(.hostAliases)") + "; kubectl -n {ns} rollout resume deployment/{t}",
            "kubectl -n {ns} rollout resume deployment/{t}; " + remove("hostAliases"),
        ),
        wrong=(
            "kubectl -n {ns} rollout resume deployment/{t}",
            "kubectl -n {ns} rollout undo deployment/{t}",
            "kubectl -n {ns} scale deployment/{t} --replicas=1",
        ),
    ),
    "wrong_config_map": Repairs(
        right=tuple(
            f"{mend}; {restart}"
            for mend, restart in (
                (
                    "helm get manifest social-network -n {ns} | kubectl -n {ns} apply -f - -l service={t}",
                    RESTART,
                ),
                (
                    "kubectl -n {ns} get configmap media-service -o json | jq .data"
                    " | jq '{data: .}' > /tmp/data.json; kubectl -n {ns} patch configmap {t} --patch-file /tmp/data.json",
                    "kubectl -n {ns} delete pods -l service={t}",
                ),
                (
                    'kubectl -n {ns} get configmap media-service -o json | jq \'.metadata |= {name: "{t}", namespace, labels: {service: "{t}"}}\''
                    " | kubectl apply -f -",
                    RESTART,
                ),
            )
        ),
        wrong=(
            RESTART,
            "helm get manifest social-network -n {ns} | kubectl -n {ns} apply -f - -l service={t}",
            "kubectl -n {ns} delete configmap {t}",
        ),
    ),
    "stale_config_map": Repairs(
        right=(
            RESTART,
            "kubectl -n {ns} delete pods -l service={t}",
            "kubectl -n {ns} get pods -o name | grep ^pod/{t}- | xargs kubectl -n {ns} delete --grace-period=1",
        ),
        wrong=(
            "kubectl -n {ns} delete pods --all",
            "helm get manifest social-network -n {ns} | kubectl -n {ns} apply -f - -l service={t}",
            "kubectl -n {ns} scale deployment/{t} --replicas=0",
        ),
    ),
}

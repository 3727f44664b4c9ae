"""Causes of an incident, as far as an engineer with a runbook knows them: what shows each, and the smallest repair."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from shlex import quote
from typing import Any, Final

from aiopslab.agents.runbook.cluster_causes import (
    Cause,
    check_dns,
    check_nodes,
    find_broken_system,
    find_closed_nodes,
    find_flapping_nodes,
    find_refused_pods,
)
from aiopslab.agents.runbook.survey import STORES, Object, Steps, Survey, is_store, parse_lines, run

NO_RIGHTS: Final = re.compile(
    r"not authorized|authentication failed|auth(entication)? error|requires authentication|user ?not ?found|unauthorized|NOAUTH|WRONGPASS|NOPERM",
    re.IGNORECASE,
)
FULL: Final = re.compile(r"OOM command not allowed|used memory > 'maxmemory'")
USER: Final = re.compile(r'user: "(\w+)",\s*pwd: "(\w+)",\s*roles: (\[.*?\])', re.DOTALL)
DETAILS: Final = """kubectl -n {ns} logs deployment/{name} --tail=20 --all-containers 2>&1 | cut -c1-300
kubectl -n {ns} logs deployment/{name} --previous --tail=6 2> /dev/null | cut -c1-300
kubectl -n {ns} get events --field-selector type=Warning -o json | jq -c '[.items[] | select(.involvedObject.name | startswith("{name}"))] |
 sort_by(.lastTimestamp) | .[-5:][] | {kind: "Event", reason, message: (.message | .[:300])}'
kubectl -n {ns} get pods -o json | jq -c '.items[] | select(.metadata.name | test("^{name}-[a-z0-9]+-[a-z0-9]+$")) |
 {kind, name: .metadata.name, images: [.spec.containers[].image]}'
kubectl -n {ns} get deployment/{name} -o json | jq -c '{kind, spec: .spec.template.spec}'
kubectl -n {ns} get replicasets -o json | jq -c '[.items[] | select(.metadata.ownerReferences[0].name == "{name}")] |
 sort_by(.metadata.annotations["deployment.kubernetes.io/revision"] | tonumber) | reverse[:4][] |
 {kind, age_s: (now - (.metadata.creationTimestamp | fromdate)), spec: .spec.template.spec}'"""
"""The logs of a component, its events, pods, specification and earlier specifications."""
IN_POD: Final = (
    "container=$(kubectl -n {ns} get pod {pod} -o jsonpath='{{.status.containerStatuses[0].containerID}}' | sed s,containerd://,,); "
    "pid=$(ssh {node} crictl inspect $container | jq .info.pid); ssh {node} nsenter -t $pid -n"
)
"""Begins a line that runs in the network of a pod."""
DRIFT: Final = """for release in $(helm -n {ns} list -q); do helm -n {ns} get manifest $release; done > declared.yaml
if [ ! -s declared.yaml ]; then kubectl -n {ns} get deployments,services,configmaps,ingresses -o json | jq -c '.items[] |
 .metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] | values | fromjson' > declared.yaml; fi
kubectl -n {ns} diff -f declared.yaml"""
"""Prints how the objects differ from those that were declared; leaves the declared ones in a file."""
DIFFERENCE: Final = re.compile(
    r"^diff -u -N \S+/(?:[\w.-]+\.)?v\d\w*\.([A-Z]\w+)\.[\w-]+\.(\S+) \S+\n(.*?)(?=^diff |\Z)",
    re.MULTILINE | re.DOTALL,
)
PROGRAM: Final = re.compile(r"\b(command|args|image|env):")
CHANGED: Final = re.compile(r"[+-]\s")
UNINTERESTING: Final = re.compile(r"generation:|replicas:|resourceVersion:")
"""Differences that say nothing, or that others often want."""
UNMET: Final = (
    ("node affinity/selector", "nodeSelector", "affinity"),
    ("anti-affinity rules", "affinity"),
    ("pod affinity rules", "affinity"),
    ("topology spread constraints", "topologySpreadConstraints"),
)
"""What the scheduler says when no node fits, and the fields that ask for too much."""
MAX_SUSPECTS: Final = 3
ADDRESS: Final = re.compile(r"-[sd] (\S+)")
POD_NETWORK: Final = "10."
RECENT_S: Final = 1800.0
"""A rollout of the last half hour is suspected."""
CONTAINER_FIELDS_OF_APPLICATION: Final = ("image", "command", "args", "env", "envFrom")


def find_causes(seen: Survey, namespace: str) -> Steps[list[Cause]]:
    """Return the causes that the evidence supports, the most direct first."""
    causes = yield from check_dns()
    causes += [
        *_find_scaled_down(seen, namespace),
        *_find_wrong_services(seen, namespace),
        *_find_missing_services(seen, namespace),
        *_find_wrong_ingresses(seen, namespace),
        *find_refused_pods(seen, namespace),
        *find_closed_nodes(seen),
    ]
    causes += yield from check_nodes(seen, namespace)
    for name in _rank_suspects(seen):
        if not causes or (name in seen.unready and not any(name in cause.components for cause in causes)):
            causes += yield from _examine(seen, namespace, name)
    if not causes:
        causes += yield from _check_network(seen, namespace)
    causes += _find_policies(seen, namespace)
    causes += find_broken_system(seen)
    if not any(cause.repair for cause in causes):
        causes += find_flapping_nodes(seen, namespace)
    if not any(cause.repair for cause in causes):
        causes += yield from find_drift(seen, namespace)
    if not causes:
        causes += _blame_deepest(seen, namespace)
    return causes


def _find_scaled_down(seen: Survey, namespace: str) -> Iterator[Cause]:
    for name, found in seen.deployments.items():
        if not found["wanted"]:
            yield Cause(
                (name,),
                "Virtualization",
                "Operation Error",
                f"somebody scaled the Deployment {name} to 0 replicas",
                (f"kubectl -n {namespace} scale deployment/{name} --replicas=1",),
            )


def _find_wrong_services(seen: Survey, namespace: str) -> Iterator[Cause]:
    """Compare each Service with the pods that it should reach."""
    for name, service in seen.services.items():
        template, selector = seen.templates.get(name), service["selector"]
        if template is None or not selector:
            continue
        labels, ports = template["labels"], template["ports"]
        wrong = {key: value for key, value in selector.items() if labels.get(key) != value}
        if wrong:
            right = {key: labels.get(key) for key in wrong}
            patch = json.dumps({"spec": {"selector": right}})
            yield Cause(
                (name,),
                "Virtualization",
                "Misconfiguration",
                f"the selector of the Service {name} is {wrong}, but its pods have the labels {labels}",
                (f"kubectl -n {namespace} patch service {name} -p {quote(patch)}",),
            )
            continue
        numbers = [number for number, _ in ports]
        names = [text for _, text in ports if text]
        for index, (port, target, *_) in enumerate(service["ports"]):
            if target in numbers or target in names or not numbers:
                continue
            right_port = port if port in numbers else numbers[min(index, len(numbers) - 1)]
            patch = json.dumps(
                [{"op": "replace", "path": f"/spec/ports/{index}/targetPort", "value": right_port}]
            )
            yield Cause(
                (name,),
                "Virtualization",
                "Misconfiguration",
                f"the target port of the Service {name} is {target}, but its container listens on {right_port}",
                (f"kubectl -n {namespace} patch service {name} --type=json -p {quote(patch)}",),
            )


def _find_missing_services(seen: Survey, namespace: str) -> Iterator[Cause]:
    """Find Deployments with ports that have no Service of their name, where all others have one."""
    missing = [
        name for name, template in seen.templates.items() if template["ports"] and name not in seen.services
    ]
    if not 0 < len(missing) <= 2:
        return
    for name in missing:
        ports = ",".join(str(number) for number, _ in seen.templates[name]["ports"])
        command = (
            f"kubectl -n {namespace} expose deployment {name} --name={name} --port={ports.partition(',')[0]}"
        )
        yield Cause(
            (name,),
            "Virtualization",
            "Operation Error",
            f"the Service {name} does not exist any more; it was deleted, perhaps by mistake",
            (command,),
        )


def _find_wrong_ingresses(seen: Survey, namespace: str) -> Iterator[Cause]:
    """Compare each Ingress with the Services and classes that exist."""
    for ingress in seen.ingresses:
        spec, name = ingress["spec"], ingress["name"]
        wanted_class = spec.get("ingressClassName")
        backends = [
            (
                f"/spec/rules/{index}/http/paths/{number}/backend/service/port/number",
                path["backend"]["service"],
            )
            for index, rule in enumerate(spec.get("rules", ()))
            for number, path in enumerate(rule.get("http", {}).get("paths", ()))
            if "service" in path["backend"]
        ]
        behind = backends[0][1]["name"] if backends else name
        if wanted_class not in seen.ingress_classes and seen.ingress_classes:
            patch = json.dumps({"spec": {"ingressClassName": seen.ingress_classes[0]}})
            why = f"the Ingress {name} names the class {wanted_class}, which no controller serves"
            line = f"kubectl -n {namespace} patch ingress {name} --type=merge -p {quote(patch)}"
            yield Cause((behind,), "Virtualization", "Misconfiguration", why, (line,))
        for place, service in backends:
            ports = [port for port, *_ in seen.services.get(service["name"], {}).get("ports", ())]
            number = service.get("port", {}).get("number")
            if ports and number is not None and number not in ports:
                patch = json.dumps([{"op": "replace", "path": place, "value": ports[0]}])
                why = f"the Ingress {name} sends requests to the port {number} of {service['name']}, which has {ports}"
                line = f"kubectl -n {namespace} patch ingress {name} --type=json -p {quote(patch)}"
                yield Cause((service["name"],), "Virtualization", "Misconfiguration", why, (line,))


def _rank_suspects(seen: Survey) -> list[str]:
    """Return the components that look ill, those on which nothing else that is ill depends first."""
    ill = dict.fromkeys((*seen.unready, *seen.restarting))
    noisy = sorted(seen.logs, key=lambda name: -seen.logs[name]["count"])
    ranked = dict.fromkeys((*ill, *seen.bad_callees, *noisy))
    return [name for name in ranked if name in seen.deployments][:MAX_SUSPECTS]


def _examine(seen: Survey, namespace: str, name: str) -> Steps[list[Cause]]:
    """Look at one component: its logs, its events, and what its latest rollout changed."""
    text = yield from run(DETAILS.replace("{ns}", namespace).replace("{name}", name))
    things = list(parse_lines(text))
    log = "\n".join(line for line in text.splitlines() if not line.startswith('{"kind":'))
    store = _find_named_store(seen, name, log)
    if store and NO_RIGHTS.search(log):
        return [(yield from _restore_users(namespace, store, name, _find_match(NO_RIGHTS, log)))]
    caches = [
        other for other in seen.deployments if "redis" in other and name.removesuffix("-service") in other
    ]
    if caches and FULL.search(log):
        return [_free_memory(namespace, caches[0], _find_match(FULL, log))]
    if name in seen.unready and store and store != name and store not in seen.unready:
        seen.unreachable.append(store)
    stuck = [pod for pod in seen.pods_of(name) if not pod["ready"]]
    events = [thing["message"] for thing in things if thing["kind"] == "Event"]
    messages = "; ".join([*events[-3:], *(pod.get("message", "") for pod in stuck[:1])])
    changed = _find_changes(things, namespace, name, messages or _get_last_line(log))
    if changed is not None:
        return [changed]
    direct = _find_edited_pods(things, namespace, name) or _find_unmet_selector(
        things, namespace, name, messages
    )
    if direct is not None:
        return [direct]
    for look in (
        _find_bad_node(stuck, name),
        _find_released_volumes(namespace, messages),
        _compare_configuration(seen, namespace, store or name, log),
    ):
        cause = yield from look
        if cause is not None:
            return [cause]
    if name in seen.unready and seen.is_stuck(name):
        return [
            Cause(
                (name,),
                "Virtualization",
                "Misconfiguration",
                f"the pods of {name} do not start: {messages[:250]}",
            )
        ]
    return []


def _free_memory(namespace: str, store: str, line: str) -> Cause:
    """Lift the limit of a cache that refuses writes."""
    return Cause(
        (store,),
        "Application",
        "Misconfiguration",
        f"{store} has reached its configured limit maxmemory, and refuses writes: {line[:200]}",
        (f"kubectl -n {namespace} exec deploy/{store} -- redis-cli config set maxmemory 0",),
    )


def _find_match(pattern: re.Pattern[str], log: str) -> str:
    return next((line for line in reversed(log.splitlines()) if pattern.search(line)), "")


def _get_last_line(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _find_named_store(seen: Survey, name: str, log: str) -> str:
    """Return the database or cache that a component's log names, or that is named like the component."""
    stores = [other for other in seen.deployments if is_store(other)]
    if name in stores:
        return name
    named = [store for store in stores if re.search(rf"\b{re.escape(store)}\b", log)]
    like = [store for store in stores if name.removesuffix("-service") in store and "mongo" in store]
    return next(iter((*named, *like)), "")


def _restore_users(namespace: str, store: str, client: str, line: str) -> Steps[Cause]:
    """Give a database's users the rights that its first script gave them."""
    mounted = f"kubectl -n {namespace} get deployment {store} -o json | jq -r '.spec.template.spec.volumes[]?.configMap.name | values'"
    text = yield from run(
        f"for map in $({mounted}); do kubectl -n {namespace} get configmap $map -o json | jq -r '.data[]'; done"
    )
    statements = [
        f'if (db.getUser("{user}")) db.updateUser("{user}", {{roles: {" ".join(roles.split())}}}); '
        f'else db.createUser({{user: "{user}", pwd: "{word}", roles: {" ".join(roles.split())}}})'
        for user, word, roles in USER.findall(text)
    ]
    logins = [(user, word) for user, word, _ in USER.findall(text)]
    script = quote("; ".join(statements))
    attempts = " || ".join(
        f"kubectl -n {namespace} exec deploy/{store} -- mongo admin -u {user} -p {word} --quiet --eval {script}"
        for user, word in reversed(logins)
    )
    restart = f"kubectl -n {namespace} get pods -o name | grep '^pod/{client}-[a-z0-9]*-[a-z0-9]*$' | xargs kubectl -n {namespace} delete"
    show = quote(
        'db.getUsers().forEach(user => print("USER", user.user, user.roles.map(role => role.role).join(",") || "none"))'
    )
    found = yield from run(attempts.replace(script, show) or "true")
    has = dict(re.findall(r"^USER (\S+) (\S+)$", found, re.MULTILINE))
    states = [
        f"its user {user} has only the roles {has[user]}: some were revoked"
        if user in has
        else f"its user {user} does not exist: the account was dropped, or was never created"
        for user, _ in logins
        if has
    ]
    return Cause(
        (store,),
        "Application",
        "Authentication Issue",
        f"callers of the database {store} lack a permission or credential; {'; '.join(states)}: {line}",
        (attempts, restart) if attempts else (),
    )


def _find_changes(things: list[Object], namespace: str, name: str, symptom: str) -> Cause | None:
    """Compare a Deployment with its newest revision that is not recent."""
    current = next((thing["spec"] for thing in things if thing["kind"] == "Deployment"), None)
    settled = [thing for thing in things if thing["kind"] == "ReplicaSet" and thing["age_s"] > RECENT_S]
    if current is None or not settled:
        return None
    before = settled[0]["spec"]
    differences = sorted(_list_differences(before, _drop_new_variables(before, current)))
    if not differences:
        return None
    wanted = _keep_new_variables(before, current)
    patch = json.dumps([{"op": "replace", "path": "/spec/template/spec", "value": wanted}])
    is_application = any(field in CONTAINER_FIELDS_OF_APPLICATION for field in differences)
    kind = "Dependency Problem" if "nodeSelector" in differences else "Misconfiguration"
    return Cause(
        (name,),
        "Application" if is_application else "Virtualization",
        kind,
        f"the latest rollout of {name} changed {_describe(before, current, differences)} and is wrong: {symptom[:200]}",
        (f"kubectl -n {namespace} patch deployment {name} --type=json -p {quote(patch)}",),
    )


def _list_differences(before: Object, after: Object) -> set[str]:
    """Return the fields of a pod's specification that differ, those of the containers by their own names."""
    found = {
        field
        for field in before.keys() | after.keys()
        if field != "containers" and before.get(field) != after.get(field)
    }
    olds = {container["name"]: container for container in before["containers"]}
    news = {container["name"]: container for container in after["containers"]}
    if olds.keys() != news.keys():
        found.add("containers")
    for name in olds.keys() & news.keys():
        old, new = olds[name], news[name]
        found |= {field for field in old.keys() | new.keys() if old.get(field) != new.get(field)}
    return found


def _describe(before: Object, after: Object, differences: list[str]) -> str:
    def read(spec: Object, field: str) -> Any:
        return spec.get(field, [container.get(field) for container in spec["containers"]])

    return "; ".join(
        f"{field} from {json.dumps(read(before, field))[:160]} to {json.dumps(read(after, field))[:160]}"
        for field in differences
    )


def _drop_new_variables(before: Object, after: Object) -> Object:
    """Return a specification without the environment variables that the earlier one does not have."""
    olds = {container["name"]: container for container in before["containers"]}
    containers = []
    for container in after["containers"]:
        known = {variable["name"] for variable in olds.get(container["name"], {}).get("env", ())}
        env = [variable for variable in container.get("env", ()) if variable["name"] in known]
        rest = {field: value for field, value in container.items() if field != "env"}
        containers.append({**rest, **({"env": env} if env else {})})
    return {**after, "containers": containers}


def _keep_new_variables(before: Object, after: Object) -> Object:
    """Return the earlier specification with the environment variables that were added since: others may have wanted them."""
    wanted: Object = json.loads(json.dumps(before))
    news = {container["name"]: container for container in after["containers"]}
    for container in wanted["containers"]:
        known = {variable["name"] for variable in container.get("env", ())}
        added = [
            variable
            for variable in news.get(container["name"], {}).get("env", ())
            if variable["name"] not in known
        ]
        if added:
            container["env"] = [*container.get("env", ()), *added]
    return wanted


def _find_edited_pods(things: list[Object], namespace: str, name: str) -> Cause | None:
    """Find pods that do not run the image of their Deployment, because somebody edited them."""
    specs = [thing["spec"] for thing in things if thing["kind"] == "Deployment"]
    images = [container["image"] for spec in specs for container in spec["containers"]]
    edited = [thing for thing in things if thing["kind"] == "Pod" and thing["images"] != images]
    if not edited or not images:
        return None
    names = " ".join(thing["name"] for thing in edited)
    return Cause(
        (name,),
        "Virtualization",
        "Operation Error",
        f"somebody changed the image of the pods {names} by hand to {edited[0]['images']}; the Deployment has {images}",
        (f"kubectl -n {namespace} delete pods {names}",),
    )


def _find_unmet_selector(things: list[Object], namespace: str, name: str, messages: str) -> Cause | None:
    """Find a Deployment that asks for a node that does not exist, whatever its earlier revisions asked for."""
    spec: Object = next((thing["spec"] for thing in things if thing["kind"] == "Deployment"), {})
    fields = [field for pattern, *named in UNMET if pattern in messages for field in named if spec.get(field)]
    if not fields:
        return None
    patch = json.dumps([{"op": "remove", "path": f"/spec/template/spec/{field}"} for field in fields])
    wanted = json.dumps({field: spec[field] for field in fields})
    return Cause(
        (name,),
        "Virtualization",
        "Dependency Problem",
        f"the pods of {name} need a node for {wanted[:200]}, and none fits: {messages[:150]}",
        (f"kubectl -n {namespace} patch deployment {name} --type=json -p {quote(patch)}",),
    )


def _compare_configuration(seen: Survey, namespace: str, name: str, log: str) -> Steps[Cause | None]:
    """Compare the ConfigMap of a store with those of its siblings."""
    kind = next((word for word in STORES if word in name), "")
    siblings = [other for other in seen.deployments if kind and kind in other and other != name]
    if not siblings:
        return None
    names = " ".join([name, *siblings[:3]])
    text = yield from run(
        f"kubectl -n {namespace} get configmaps {names} --ignore-not-found -o json | jq -c '.items[]? // . | {{kind, name: .metadata.name, data}}'"
    )
    maps = {thing["name"]: thing["data"] for thing in parse_lines(text) if thing.get("data")}
    own = maps.pop(name, None)
    if own is None or not maps:
        return None
    sibling, pattern = next(iter(maps.items()))
    wanted = {key: value.replace(sibling, name) for key, value in pattern.items()}
    different = [key for key in own if key in wanted and own[key] != wanted[key]]
    if not different:
        return None
    patch = json.dumps({"data": {key: wanted[key] for key in different}})
    lines = set(own[different[0]].splitlines()) - set(wanted[different[0]].splitlines())
    what = " ".join(line.strip() for line in sorted(lines))[:200]
    return Cause(
        (name,),
        "Application",
        "Misconfiguration",
        f"the ConfigMap of {name} differs from that of {sibling}: {what}; {_get_last_line(log)[:150]}",
        (
            f"kubectl -n {namespace} patch configmap {name} -p {quote(patch)}",
            f"kubectl -n {namespace} rollout restart deployment/{name}",
        ),
    )


def _find_bad_node(stuck: list[Object], name: str) -> Steps[Cause | None]:
    """Read the kernel's messages of the node whose pods do not start."""
    nodes = {pod["node"] for pod in stuck if pod["node"]}
    if len(nodes) != 1:
        return None
    (node,) = nodes
    text = yield from run(
        f"ssh {node} \"dmesg | grep -iE 'I/O error|unable to allocate|oops|bug:|corrupt|read-only' | tail -3\""
    )
    line = _get_last_line(text.partition("\n\n")[0])
    if not re.search(r"error|unable|oops|bug|corrupt|read-only", line, re.IGNORECASE):
        return None
    is_disk = bool(re.search(r"I/O error|read-only|ext4|sda|nvme", line))
    return Cause(
        (name,),
        "Hardware" if is_disk else "Operating System",
        "Network/Storage Issue" if is_disk else "Code Defect",
        f"the pods of {name} do not start on the node {node}, whose kernel says: {line}",
        (
            f"kubectl drain {node} --ignore-daemonsets --delete-emptydir-data --force --grace-period=10 --timeout=100s",
        ),
    )


def _find_released_volumes(namespace: str, messages: str) -> Steps[Cause | None]:
    """Find volumes that keep the claim of an earlier deployment."""
    if "PersistentVolumeClaim" not in messages and "unbound" not in messages:
        return None
    text = yield from run(
        'kubectl get persistentvolumes -o json | jq -c \'.items[] | select(.status.phase == "Released") | {kind, name: .metadata.name, '
        f"claim: .spec.claimRef.name}}'; kubectl -n {namespace} get deployments -o json | jq -c '.items[] | "
        "{kind, name: .metadata.name, claims: [.spec.template.spec.volumes[]?.persistentVolumeClaim.claimName | values]}'"
    )
    things = list(parse_lines(text))
    volumes = [thing for thing in things if thing["kind"] == "PersistentVolume"]
    claims = {thing["claim"] for thing in volumes}
    owners = [
        thing["name"] for thing in things if thing["kind"] == "Deployment" and claims & set(thing["claims"])
    ]
    if not volumes or not owners:
        return None
    patch = '[{"op": "remove", "path": "/spec/claimRef"}]'
    names = " ".join(thing["name"] for thing in volumes)
    return Cause(
        tuple(owners),
        "Virtualization",
        "Operation Error",
        f"the application was deleted and deployed again, and the persistent volumes {names} are still Released: their claims are lost",
        (
            f"for volume in {names}; do kubectl patch persistentvolume $volume --type=json -p {quote(patch)}; done",
            f"sleep 25; kubectl -n {namespace} get pods | awk '$3 ~ /CrashLoop|Error/ {{print $1}}' | xargs -r kubectl -n {namespace} delete pod",
        ),
    )


def _check_network(seen: Survey, namespace: str) -> Steps[list[Cause]]:
    """Look for queueing in the pods that are reached badly, and for packet rules on the nodes."""
    callees = seen.bad_callees
    if not callees:
        return []
    causes = []
    for name in callees[:2]:
        for pod in [pod for pod in seen.pods_of(name) if pod["node"]][:2]:
            enter = IN_POD.format(ns=namespace, pod=pod["name"], node=pod["node"])
            text = yield from run(f"{enter} tc qdisc show dev eth0")
            line = next((line for line in text.splitlines() if re.search(r"netem|tbf", line)), "")
            if line:
                why = (
                    f"a queueing discipline in the network of the pod {pod['name']} limits the bandwidth, or delays, loses or "
                    f"corrupts packets of {name}: {line}"
                )
                fix = f"{enter} tc qdisc del dev eth0 root"
                causes.append(Cause((name,), "Virtualization", "Network/Storage Issue", why, (fix,)))
    rules = []
    nodes = " ".join(seen.nodes)
    text = yield from run(
        f"for node in {nodes}; do echo $node $(ssh $node sysctl -n net.ipv4.ip_forward); done"
    )
    for node in re.findall(r"^(\S+) 0$", text, re.MULTILINE):
        why = f"the node {node} forwards no packets: its kernel setting net.ipv4.ip_forward is 0"
        fix = f"ssh {node} sysctl -w net.ipv4.ip_forward=1"
        causes.append(Cause((node,), "Operating System", "Misconfiguration", why, (fix,)))
    text = yield from run(
        f"for node in {nodes}; do ssh $node \"iptables-save | grep -E '^-A .*(DROP|REJECT)' | grep -v KUBE- | sed s/^/$node:/\"; done"
    )
    for line in text.splitlines():
        node, _, rule = line.partition(":-A ")
        is_about_pods = all(address.startswith(POD_NETWORK) for address in ADDRESS.findall(rule))
        if node in seen.nodes and is_about_pods:
            rules.append(f"ssh {node} iptables -D {rule}")
    if rules:
        why = f"packet rules on the nodes drop or reject packets: {rules[0].partition(' -D ')[2]}"
        causes.append(Cause(callees[:1], "Operating System", "Network/Storage Issue", why, tuple(rules)))
    return causes


def _find_policies(seen: Survey, namespace: str) -> list[Cause]:
    """Suspect NetworkPolicies whose pods are reached badly."""
    callees = set(seen.bad_callees)
    causes = []
    for policy in seen.policies:
        selected = policy["spec"].get("podSelector", {}).get("matchLabels", {})
        names = tuple(
            name
            for name, template in seen.templates.items()
            if selected.items() <= template["labels"].items()
        )
        if callees & set(names) or not callees or policy["age_s"] < RECENT_S:
            hit = tuple(name for name in names if name in callees) or names or ("unknown pods",)
            causes.append(
                Cause(
                    hit[:1],
                    "Virtualization",
                    "Misconfiguration",
                    f"the NetworkPolicy {policy['name']} isolates {', '.join(hit)}: {json.dumps(policy['spec'])[:200]}",
                    (f"kubectl -n {namespace} delete networkpolicy {policy['name']}",),
                )
            )
    return causes


def _blame_deepest(seen: Survey, namespace: str) -> list[Cause]:
    """Name the component at the end of the failing calls; what remains to try is a restart of its pods."""
    ranked = [*seen.bad_callees, *_rank_suspects(seen)]
    if not ranked:
        return []
    ill = dict.fromkeys((*seen.bad_callees, ranked[0]))
    pods = " ".join(pod["name"] for name in ill for pod in seen.pods_of(name))
    why = f"{ranked[0]} fails, and its cause is not clear; it may have lost a connection or its registration"
    restart = (f"kubectl -n {namespace} delete pods {pods}",) if pods else ()
    return [Cause((ranked[0],), "Application", "Misconfiguration", why, restart)]


def find_drift(seen: Survey, namespace: str) -> Steps[list[Cause]]:
    """Compare what is deployed with what was declared, by Helm or by ``kubectl apply``, and suspect what differs near the symptoms.

    Others may have wanted a difference, so it is a cause only where something is ill, or in the port where users come in.
    """
    text = yield from run(DRIFT.replace("{ns}", namespace), 120)
    ill = {*_rank_suspects(seen), *seen.bad_callees}
    if not seen.calls:  # without metrics, error lines have to say who is called: "GetProfiles failed"
        errors = " ".join(log["last"] for log in seen.logs.values()).lower()
        ill |= {name for name in seen.deployments if name.removesuffix("-service") in errors}
    causes = []
    for kind, name, body in DIFFERENCE.findall(text):
        lines = [line for line in body.splitlines() if CHANGED.match(line) and not UNINTERESTING.search(line)]
        is_door = kind == "Service" and any("nodePort:" in line for line in lines)
        is_opened = any(" type:" in line for line in lines)
        if not lines or is_opened or not (name in ill or is_door):
            continue
        select = f'(.items[]? // .) | select(.kind == "{kind}" and .metadata.name == "{name}")'
        declared = f"kubectl -n {namespace} create --dry-run=client -o json -f declared.yaml"
        fix = [f"{declared} | jq {quote(select)} | kubectl apply -f -"]
        if kind == "ConfigMap" and name in seen.deployments:
            fix.append(f"kubectl -n {namespace} rollout restart deployment/{name}")
        what = " ".join(line.strip() for line in lines)[:250]
        causes.append(
            Cause(
                (name,),
                "Application" if kind == "ConfigMap" or PROGRAM.search(body) else "Virtualization",
                "Misconfiguration",
                f"the {kind} {name} is not as it was declared: {what}",
                tuple(fix),
            )
        )
    return causes

"""Repairs of faults of Services, DNS, network policies, packets and node rules."""

from __future__ import annotations

from tests.repairs.table import Repairs

K = "kubectl -n {ns}"
S = "kubectl -n kube-system"
LABELS = f"$({K} get deployment {{t}} -o json | jq -c .spec.selector.matchLabels)"
SELECTOR = f'$({K} get deployment {{t}} -o json | jq -r \'.spec.selector.matchLabels | to_entries | map(.key + "=" + .value) | join(",")\')'
RESTART = f"{K} rollout restart deployment/{{t}}"
RESTART_FRONT = f"{K} get deployments -o name | grep -E 'frontend$|nginx-thrift$' | xargs {K} rollout restart"
"""The target itself may be a database that keeps its data in its container."""
RESTART_ALL = f"{K} rollout restart deployment"
NEW_PODS = f"{K} delete pods -l {SELECTOR}"
SCALE_OUT = f"{K} scale deployment/{{t}} --replicas=3"
DELETE_SERVICE = f"{K} delete service {{t}}"
BARE = "del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .status)"


def edit(kind: str, fix: str, kubectl: str = K, name: str = "{t}", verb: str = "replace") -> str:
    """Change an object with a jq filter, which knows the labels of the target's pods as ``$labels``."""
    return (
        f"{kubectl} get {kind} {name} -o json | jq --argjson labels {LABELS} '{fix}' | {kubectl} {verb} -f -"
    )


def merge_ports(fix: str) -> str:
    """Change the ports of a Service with a jq filter."""
    ports = f"$({K} get service {{t}} -o json | jq -c '{fix} | {{spec: {{ports: .spec.ports}}}}')"
    return f'{K} patch service {{t}} --type=merge -p "{ports}"'


def mend_service(fix: str, *wrong: str, applies: bool = True) -> Repairs:
    """Return repairs that change a Service with a jq filter, and wrong filters.

    Without ``applies`` none applies the Service: that merges its ports by number, and would add one.
    The Service keeps its address if it is created again, because some clients resolve its name only when they start.
    """
    return Repairs(
        right=(
            edit("service", fix),
            edit("service", fix, verb="apply") if applies else merge_ports(fix),
            edit("service", f"{fix} | {BARE}", verb="replace --force"),
            f"{edit('service', fix)}; {RESTART_FRONT}",
        ),
        wrong=(RESTART, DELETE_SERVICE, SCALE_OUT, *(edit("service", other) for other in wrong)),
    )


PORT = ".spec.ports[0]"
DOOR = '(if .metadata.name == "frontend" then 30500 else 30080 end)'
"""The node ports of the front doors, which their runbooks name."""
SELECT = ".spec.selector = $labels"


def mend_policy(right: str, wrong: str) -> Repairs:
    """Return repairs of a network policy: without it, or with other rules."""
    policy = f"{K} patch networkpolicy {{policy}} --type=merge -p"
    return Repairs(
        right=(
            f"{K} delete networkpolicy {{policy}}",
            f"{policy} '{right}'",
            f"{K} delete networkpolicy --all; {RESTART_FRONT}",
        ),
        wrong=(RESTART, SCALE_OUT, f"{policy} '{wrong}'"),
    )


IN_NAMESPACE = '{"spec":{"policyTypes":["Ingress"],"ingress":[{"from":[{"podSelector":{}}]}]}}'
CLUSTER_FIRST = '{"spec":{"template":{"spec":{"dnsPolicy":"ClusterFirst","dnsConfig":null}}}}'
TEMPLATE = ".spec.template.spec"
OWN_DOMAINS = '["{ns}.svc.cluster.local", "svc.cluster.local", "cluster.local"]'


def mend_pods(fix: str, *wrong: str, right: str = "") -> Repairs:
    """Return repairs that roll out a change of the target's pods with a jq filter, and wrong changes as patches."""
    return Repairs(
        right=(
            edit("deployment", fix),
            edit("deployment", fix, verb="apply"),
            edit("deployment", f"{fix} | {BARE}", verb="replace --force"),
            *([right] if right else []),
        ),
        wrong=(
            RESTART,
            f"{K} scale deployment/{{t}} --replicas=0",
            *(f"{K} patch deployment {{t}} -p '{patch}'" for patch in wrong),
        ),
    )


COREFILE = ".data.Corefile"
NEW_DNS_PODS = f"{S} rollout restart deployment/coredns"


def mend_corefile(fix: str, wrong: str) -> Repairs:
    """Return repairs that change the Corefile with a jq filter, with and without a restart, and a wrong filter."""
    mended = edit("configmap", f"{COREFILE} |= ({fix})", S, "coredns")
    return Repairs(
        right=(
            mended,
            f"{mended}; {NEW_DNS_PODS}",
            f"{mended}; {S} delete pods -l k8s-app=kube-dns; sleep 15; {RESTART_FRONT}",
        ),
        wrong=(
            NEW_DNS_PODS,
            f"{S} scale deployment/coredns --replicas=4",
            RESTART_ALL,
            f"{edit('configmap', f'{COREFILE} |= ({wrong})', S, 'coredns')}; {NEW_DNS_PODS}",
        ),
    )


NAME = "{t}.{ns}.svc.cluster.local"
PODS_ON_NODES = (
    f"{K} get pods -l {SELECTOR} -o json | jq -r '.items[] | .metadata.name + \" \" + .spec.nodeName'"
)
IN_NETWORK = "nsenter -t $(crictl inspectp $(crictl pods --name $pod -q) | jq .info.pid) -n"


def in_networks(line: str) -> str:
    """Run a line in the network namespace of each pod of the target."""
    return f'{PODS_ON_NODES} | while read pod node; do ssh -n $node "{IN_NETWORK.replace("$(", chr(92) + "$(")} {line}"; done'


NO_DISCIPLINE = in_networks("tc qdisc del dev eth0 root")
DEBUG = f"for pod in $({K} get pods -l {SELECTOR} -o name); do {K} debug $pod --image=nicolaka/netshoot --profile=netadmin -q --attach -- tc qdisc del dev eth0 root; done"


def mend_packets(milder: str) -> Repairs:
    """Return repairs of a queueing discipline at the target's pods."""
    return Repairs(
        right=(NO_DISCIPLINE, NEW_PODS, RESTART, in_networks("tc qdisc replace dev eth0 root fq_codel")),
        wrong=(
            in_networks(f"tc qdisc change dev eth0 root {milder}"),
            RESTART_ALL,
            "kubectl cordon $(kubectl get nodes -o name | tail -1)",
            f"{K} delete pods --all",
        ),
    )


NODES = "for node in $(kubectl get nodes -o name | cut -d/ -f2); do"


def delete_rules(what: str) -> str:
    """Delete all rules of all nodes that match a pattern."""
    return f"{NODES} ssh -n $node iptables -S FORWARD | grep -E -- '{what}' | grep -E 'DROP|REJECT' | sed 's/^-A/-D/' | while read rule; do ssh -n $node iptables $rule; done; done"


FLUSH = f"{NODES} ssh -n $node iptables -F FORWARD; done"

REPAIRS = {
    "deleted_service": Repairs(
        right=(
            f"{K} expose deployment {{t}}",
            f"{K} expose deployment {{t}} --name={{t}}; {RESTART_FRONT}",
            f"{K} expose deployment {{t}} --dry-run=client -o yaml | {K} apply -f -",
        ),
        wrong=(RESTART, RESTART_ALL, f"{K} create service clusterip {{t}} --tcp=81:81"),
    ),
    "wrong_selector": mend_service(SELECT, '.spec.selector = {"app": "{t}-v3"}', "del(.spec.selector)"),
    "misdirected_service": mend_service(SELECT, '.spec.selector = {"app": "{t}-v3"}'),
    "wrong_target_port": mend_service(f"{PORT}.targetPort = {PORT}.port", f"{PORT}.targetPort += 7"),
    "wrong_service_port": mend_service(
        f"{PORT}.port = {PORT}.targetPort", f"{PORT}.port += 7", applies=False
    ),
    "wrong_protocol": mend_service(f'{PORT}.protocol = "TCP"', f"{PORT}.port += 7"),
    "external_name_service": mend_service(
        '.spec.type = "ClusterIP" | del(.spec.externalName)', '.spec.externalName = "{t}.other.example.com"'
    ),
    "manual_endpoints": mend_service(SELECT, '.spec.selector = {"app": "{t}-v3"}'),
    "local_traffic_policy": Repairs(
        right=(
            edit("service", '.spec.externalTrafficPolicy = "Cluster"'),
            edit("service", "del(.spec.externalTrafficPolicy)"),
            f'{K} patch service {{t}} -p \'{{"spec":{{"externalTrafficPolicy":"Cluster"}}}}\'',
        ),
        wrong=(RESTART, SCALE_OUT, DELETE_SERVICE),
    ),
    "wrong_port_name": mend_service(f"{PORT}.targetPort = {PORT}.port", f'{PORT}.targetPort = "http-alt"'),
    "wrong_node_port": mend_service(f"{PORT}.nodePort = {DOOR}", f"{PORT}.nodePort += 7"),
    "unexposed_front_door": mend_service(
        f'.spec.type = "NodePort" | {PORT}.nodePort = {DOOR}', '.spec.type = "NodePort"'
    ),
    "stray_endpoint": Repairs(
        right=(
            f"{K} delete endpointslice {{t}}{{suffix}}",
            f"{K} patch endpointslice {{t}}{{suffix}} --type=merge -p '{{\"endpoints\":[]}}'",
            f"{K} label endpointslice {{t}}{{suffix}} kubernetes.io/service-name-",
        ),
        wrong=(RESTART, SCALE_OUT, DELETE_SERVICE),
    ),
    "unselected_dns": Repairs(
        right=(
            f"{S} set selector service kube-dns k8s-app=kube-dns",
            edit("service", '.spec.selector = {"k8s-app": "kube-dns"}', S, "kube-dns"),
            f"{S} set selector service kube-dns k8s-app=kube-dns; sleep 5; {RESTART_FRONT}",
        ),
        wrong=(NEW_DNS_PODS, f"{S} label pods -l k8s-app=kube-dns app=kube-dns", RESTART_ALL),
    ),
    "isolated_dns": Repairs(
        right=(
            f"{S} delete networkpolicy {{policy}}",
            f'{S} patch networkpolicy {{policy}} --type=merge -p \'{{"spec":{{"ingress":[{{}}]}}}}\'',
            f'{S} patch networkpolicy {{policy}} --type=merge -p \'{{"spec":{{"ingress":[{{"from":[{{"namespaceSelector":{{}}}}]}}]}}}}\'',
        ),
        wrong=(
            NEW_DNS_PODS,
            f'{S} patch networkpolicy {{policy}} --type=merge -p \'{{"spec":{{"ingress":[{{"from":[{{"namespaceSelector":{{"matchLabels":{{"kubernetes.io/metadata.name":"default"}}}}}}]}}]}}}}\'',
            RESTART_ALL,
        ),
    ),
    "isolating_policy": mend_policy(IN_NAMESPACE, '{"spec":{"policyTypes":["Ingress","Egress"]}}'),
    "policy_wrong_port": mend_policy(
        IN_NAMESPACE, '{"spec":{"ingress":[{"from":[{"podSelector":{}}],"ports":[{"port":4444}]}]}}'
    ),
    "policy_wrong_namespace": mend_policy(
        '{"spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"{ns}"}}}]}]}}',
        '{"spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}]}]}}',
    ),
    "policy_wrong_label": mend_policy(
        IN_NAMESPACE, '{"spec":{"ingress":[{"from":[{"podSelector":{"matchLabels":{"tier":"front"}}}]}]}}'
    ),
    "policy_without_dns": mend_policy(
        '{"spec":{"egress":[{"to":[{"podSelector":{}}]},{"to":[{"namespaceSelector":{}}],"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"}]}]}}',
        '{"spec":{"egress":[{"to":[{"podSelector":{}}],"ports":[{"port":53,"protocol":"UDP"}]}]}}',
    ),
    "wrong_dns_policy": mend_pods(
        f'{TEMPLATE}.dnsPolicy = "ClusterFirst"',
        '{"spec":{"template":{"spec":{"dnsPolicy":"None","dnsConfig":{"nameservers":["8.8.8.8"]}}}}}',
        right=f"{K} patch deployment {{t}} -p '{CLUSTER_FIRST}'",
    ),
    "wrong_nameserver": mend_pods(
        f'{TEMPLATE}.dnsPolicy = "ClusterFirst" | del({TEMPLATE}.dnsConfig)',
        '{"spec":{"template":{"spec":{"dnsConfig":{"nameservers":["8.8.8.8"]}}}}}',
        '{"spec":{"template":{"spec":{"dnsPolicy":"Default","dnsConfig":null}}}}',
        right=edit("deployment", f'{TEMPLATE}.dnsConfig.nameservers = ["10.96.0.10"]'),
    ),
    "wrong_search_domains": mend_pods(
        f'{TEMPLATE}.dnsPolicy = "ClusterFirst" | del({TEMPLATE}.dnsConfig)',
        '{"spec":{"template":{"spec":{"dnsConfig":{"searches":["cluster.local"]}}}}}',
        '{"spec":{"template":{"spec":{"dnsPolicy":"Default","dnsConfig":null}}}}',
        right=edit("deployment", f"{TEMPLATE}.dnsConfig.searches = {OWN_DOMAINS}"),
    ),
    "wrong_dns_zone": mend_corefile('gsub("{zone}"; "cluster.local")', 'sub("{zone}"; "cluster.lan")'),
    "missing_dns_plugin": mend_corefile(
        'sub("    ready\\n"; "    ready\\n    kubernetes cluster.local in-addr.arpa ip6.arpa {\\n       pods insecure\\n       fallthrough in-addr.arpa ip6.arpa\\n    }\\n")',
        'sub("    ready\\n"; "    ready\\n    kubernetes cluster.lan\\n")',
    ),
    "invalid_corefile": mend_corefile(
        'sub("kuberntes"; "kubernetes") | sub("foward"; "forward") | sub("load_balance"; "loadbalance") | sub("unverified"; "insecure")',
        'sub("errors"; "error")',
    ),
    "wrong_dns_rewrite": mend_corefile(
        'sub(" *rewrite [^\\n]*\\n"; "")', 'sub("[.]{namespace}[.]svc"; ".old.svc")'
    ),
    "stale_dns_host": mend_corefile('sub(" *hosts [^}]*}\\n"; "")', 'sub("{address}"; "10.96.77.77")'),
    "denied_dns_name": mend_corefile('sub(" *template [^}]*}\\n"; "")', 'sub("{code}"; "FORMERR")'),
    "dns_scaled_down": Repairs(
        right=(
            f"{S} scale deployment/coredns --replicas=2",
            f'{S} patch deployment coredns -p \'{{"spec":{{"replicas":2}}}}\'',
            f"{S} scale deployment/coredns --replicas=2; sleep 15; {RESTART_FRONT}",
        ),
        wrong=(RESTART, NEW_DNS_PODS, f"{S} delete deployment coredns"),
    ),
    "stopped_kube_proxy": Repairs(
        right=(
            edit("daemonset", f'del({TEMPLATE}.nodeSelector["{{label}}"])', S, "kube-proxy"),
            edit(
                "daemonset",
                f'del({TEMPLATE}.nodeSelector["{{label}}"]) | {BARE}',
                S,
                "kube-proxy",
                "replace --force",
            ),
            f'{S} patch daemonset kube-proxy -p \'{{"spec":{{"template":{{"spec":{{"nodeSelector":{{"{{label}}":null}}}}}}}}}}\'; {S} rollout status daemonset/kube-proxy; {RESTART}',
        ),
        wrong=(
            RESTART,
            f"{S} rollout restart daemonset/kube-proxy",
            "kubectl label nodes --all {label}={value}",
        ),
    ),
    "network_delay": mend_packets("netem delay 300ms"),
    "lossy_pod_network": mend_packets("netem loss 25%"),
    "corrupted_packets": mend_packets("netem corrupt 25%"),
    "narrow_bandwidth": mend_packets("tbf rate 6kbit burst 1600 latency 2s"),
    "slow_node_network": Repairs(
        right=(
            "ssh {node} tc qdisc del dev eth0 root",
            "ssh {node} tc qdisc replace dev eth0 root fq_codel",
            f"ssh {{node}} tc qdisc del dev eth0 root; {RESTART}",
        ),
        wrong=(RESTART, "ssh {node} tc qdisc change dev eth0 root netem delay 100ms", RESTART_ALL),
    ),
    "orphaned_redirect": Repairs(
        right=(in_networks("iptables -t nat -D OUTPUT 1"), NEW_PODS, RESTART),
        wrong=(
            in_networks("iptables -F OUTPUT"),
            f"{NODES} ssh -n $node iptables -t nat -F OUTPUT; done",
            RESTART_ALL,
        ),
    ),
    "network_loss": Repairs(
        right=(
            delete_rules("--dport"),
            f"{delete_rules('statistic')}; {RESTART}",
            f'{NODES} ssh -n $node "iptables-save | grep -v statistic.*DROP | iptables-restore"; done',
        ),
        wrong=(RESTART, NEW_PODS, FLUSH),
    ),
    "dropped_port": Repairs(
        right=(delete_rules("-d 10[.]244[.]"), NEW_PODS, f"{delete_rules('--dport')}; {RESTART}"),
        wrong=(FLUSH, RESTART_ALL, f"{S} rollout restart daemonset/kube-proxy"),
    ),
    "partitioned_node": Repairs(
        right=(
            delete_rules("-s 10[.]244[.]"),
            f"{delete_rules('-s 10[.]244[.]')}; {RESTART}",
            "ssh {node} \"iptables-save | grep -v -- '-s 10.244.*DROP' | iptables-restore\"",
        ),
        wrong=(FLUSH, RESTART_ALL, "ssh {node} iptables -D FORWARD 1"),
    ),
}

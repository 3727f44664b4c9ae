"""What goes wrong on a node when somebody works on it: suspended services, missing files, settings, manifests."""

from __future__ import annotations

import pytest

from simcloud.world import Terminal, World
from simcloud.world.clusters import add_cluster

NODE, CONTROL_PLANE = "kind-worker", "kind-control-plane"
CONFIG, CNI = "/var/lib/kubelet/config.yaml", "/etc/cni/net.d/10-kindnet.conflist"


class Lab:
    def __init__(self) -> None:
        self.world = World(5)
        self.cluster = add_cluster(self.world, 3)
        self.cluster.start()
        self.world.run_for(60.0)
        self.terminal = Terminal(self.world, self.cluster)
        self.type("kubectl create deployment web --image=nginx:1.19 --replicas=2; sleep 15")

    def type(self, line: str) -> str:
        done = self.terminal.run(line)
        return (done.stdout + done.stderr).decode()

    def on(self, node: str, line: str) -> str:
        return self.type(f"ssh {node} '{line}'")

    def ready_message(self) -> str:
        path = '{.status.conditions[?(@.type=="Ready")].message}'
        return self.type(f"kubectl get node {NODE} -o jsonpath='{path}'")


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


def test_a_suspended_runtime_answers_nobody_and_the_node_says_so_after_three_minutes(lab: Lab) -> None:
    lab.on(NODE, "pkill -STOP -x containerd")
    assert "code = DeadlineExceeded" in lab.on(NODE, "crictl ps")
    lab.world.run_for(60.0)
    assert lab.ready_message() == "kubelet is posting ready status"
    lab.world.run_for(140.0)
    assert lab.ready_message().startswith("PLEG is not healthy: pleg was last seen active 3m")
    lab.on(NODE, "pkill -CONT -x containerd")
    lab.world.run_for(15.0)
    assert lab.ready_message() == "kubelet is posting ready status"


def test_without_its_configuration_the_network_plugin_is_not_ready_until_kindnet_writes_it(lab: Lab) -> None:
    lab.on(NODE, f"rm {CNI}")
    lab.world.run_for(15.0)
    assert lab.ready_message().endswith("Network plugin returns error: cni plugin not initialized")
    lab.type(
        f"kubectl -n kube-system delete pod -l app=kindnet --field-selector spec.nodeName={NODE}; sleep 20"
    )
    assert lab.ready_message() == "kubelet is posting ready status"
    assert '"type": "ptp"' in lab.on(NODE, f"cat {CNI}")


@pytest.mark.parametrize(
    ("breaks", "mends", "says"),
    [
        (
            f"sed -i s/ca.crt/old-ca.crt/ {CONFIG}",
            f"sed -i s/old-ca.crt/ca.crt/ {CONFIG}",
            "unable to load client CA file /etc/kubernetes/pki/old-ca.crt",
        ),
        (
            f"sed -i s/containerd.sock/crio.sock/ {CONFIG}",
            f"sed -i s/crio.sock/containerd.sock/ {CONFIG}",
            "dial unix /run/containerd/crio.sock: connect: no such file or directory",
        ),
        (
            "mv /etc/kubernetes/kubelet.conf /root/",
            "mv /root/kubelet.conf /etc/kubernetes/",
            "unable to load bootstrap kubeconfig",
        ),
    ],
)
def test_a_kubelet_with_a_mistake_in_its_files_exits_and_says_why(
    lab: Lab, breaks: str, mends: str, says: str
) -> None:
    lab.on(NODE, f"{breaks}; systemctl restart kubelet; sleep 3")
    assert lab.on(NODE, "systemctl is-active kubelet").strip() == "activating"
    assert says in lab.on(NODE, "journalctl -u kubelet -n 20 --no-pager")
    lab.on(NODE, f"{mends}; sleep 3")
    assert lab.on(NODE, "systemctl is-active kubelet").strip() == "active"


def test_pods_of_a_node_that_does_not_forward_are_reached_from_that_node_only(lab: Lab) -> None:
    addresses = lab.type(
        "kubectl get pods -l app=web -o jsonpath='{.items[*].spec.nodeName} {.items[*].status.podIP}'"
    )
    places = addresses.split()
    address = dict(zip(places[:2], places[2:], strict=True))[NODE]
    curl = f"curl -s -m 2 -o /dev/null -w %{{http_code}} http://{address}"
    lab.on(NODE, "sysctl -w net.ipv4.ip_forward=0")
    assert lab.on(NODE, "cat /proc/sys/net/ipv4/conf/all/forwarding") == "0\n"
    assert lab.on("kind-worker2", curl) == "000"
    assert lab.on(NODE, curl) == "200"
    lab.on(NODE, "sysctl -w net.ipv4.ip_forward=1")
    assert lab.on("kind-worker2", curl) == "200"


def test_without_its_manifest_the_scheduler_is_gone_and_with_it_a_new_one_leads(lab: Lab) -> None:
    lab.on(CONTROL_PLANE, "mv /etc/kubernetes/manifests/kube-scheduler.yaml /root/; sleep 25")
    assert "kube-scheduler" not in lab.type("kubectl -n kube-system get pods")
    lab.type("kubectl scale deployment web --replicas=3; sleep 20")
    assert "Pending" in lab.type("kubectl get pods -l app=web")
    lab.on(CONTROL_PLANE, "mv /root/kube-scheduler.yaml /etc/kubernetes/manifests/; sleep 28")
    lab.world.run_for(20.0)
    assert "Pending" not in lab.type("kubectl get pods -l app=web")
    transitions = "kubectl -n kube-system get lease kube-scheduler -o jsonpath='{.spec.leaseTransitions}'"
    assert lab.type(transitions) == "1"


def test_a_manifest_without_a_namespace_is_of_the_default_one(lab: Lab) -> None:
    pod = (
        "{apiVersion: v1, kind: Pod, metadata: {name: own}, spec: {containers: [{name: own, image: nginx}]}}"
    )
    lab.on(CONTROL_PLANE, f"echo '{pod}' > /etc/kubernetes/manifests/own.yaml; sleep 28")
    assert f"own-{CONTROL_PLANE}   1/1     Running" in lab.type("kubectl get pods -n default")
    lab.on(CONTROL_PLANE, "rm /etc/kubernetes/manifests/own.yaml; sleep 28")


def test_a_pods_token_lies_in_memory(lab: Lab) -> None:
    secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
    assert lab.type(f"kubectl exec deploy/web -- stat -c '%A %s %b' {secrets} {secrets}/..data/") == (
        "drwxrwxrwt 140 0\ndrwxr-xr-x 100 0\n"
    )


def test_a_controller_manager_with_a_wrong_flag_crashes_and_replaces_no_pod(lab: Lab) -> None:
    manifest = "/etc/kubernetes/manifests/kube-controller-manager.yaml"
    lab.on(
        CONTROL_PLANE,
        f"sed -i s,=/etc/kubernetes/controller-manager.conf,=/etc/cm.conf, {manifest}; sleep 25",
    )
    assert "stat /etc/cm.conf: no such file" in lab.type(
        "kubectl -n kube-system logs kube-controller-manager-kind-control-plane"
    )
    lab.type("kubectl delete pods -l app=web --grace-period=2; sleep 5")
    assert lab.type("kubectl get pods -l app=web") == "No resources found in default namespace.\n"
    lab.on(
        CONTROL_PLANE,
        f"sed -i s,=/etc/cm.conf,=/etc/kubernetes/controller-manager.conf, {manifest}; sleep 28",
    )
    lab.world.run_for(30.0)
    assert "Running" in lab.type("kubectl get pods -l app=web")


def test_the_shell_of_a_node_kills_the_first_process_of_a_container(lab: Lab) -> None:
    pid = lab.on(NODE, "pgrep -x kindnetd").strip()
    lab.on(NODE, f"kill -9 {pid}")
    lab.world.run_for(5.0)
    assert lab.on(NODE, "pgrep -x kindnetd").strip() not in ("", pid)

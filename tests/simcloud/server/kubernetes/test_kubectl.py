"""What people type at a genuine kubectl, against the served cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.simcloud.server.kubernetes.served import Served

pytestmark = pytest.mark.differential("kubectl")

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: nginx
        image: nginx:1.19
        ports: [{containerPort: 80}]
"""

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {key: value, other: thing}
"""

CREATED = [
    ("configmap c --from-literal=a=b --from-literal=c=d", "configmap/c created"),
    ("secret generic s --from-literal=p=w", "secret/s created"),
    (
        "secret docker-registry r --docker-server=x --docker-username=u --docker-password=p",
        "secret/r created",
    ),
    ("deployment d --image=nginx:1.19 --replicas=2 --port=80", "deployment.apps/d created"),
    ("job j --image=busybox -- date", "job.batch/j created"),
    ("cronjob cj --image=busybox --schedule='*/5 * * * *' -- date", "cronjob.batch/cj created"),
    ("ingress i --rule=foo.com/bar*=svc:8080,tls=cert", "ingress.networking.k8s.io/i created"),
    ("poddisruptionbudget p --selector=app=web --min-available=1", "poddisruptionbudget.policy/p created"),
    ("quota q --hard=pods=10,cpu=4", "resourcequota/q created"),
    ("role r --verb=get,list --resource=pods,pods/log", "role.rbac.authorization.k8s.io/r created"),
    ("rolebinding rb --role=r --user=jane", "rolebinding.rbac.authorization.k8s.io/rb created"),
    ("serviceaccount sa", "serviceaccount/sa created"),
    ("service clusterip ci --tcp=80:8080", "service/ci created"),
    ("service nodeport np --tcp=80", "service/np created"),
    ("service loadbalancer lb --tcp=80", "service/lb created"),
    ("service externalname en --external-name=example.com", "service/en created"),
]

CREATED_EVERYWHERE = [
    ("namespace {name}", "namespace/{name} created"),
    (
        "clusterrole {name} --verb=get --resource=nodes",
        "clusterrole.rbac.authorization.k8s.io/{name} created",
    ),
    (
        "clusterrolebinding {name} --clusterrole=view --group=devs",
        "clusterrolebinding.rbac.authorization.k8s.io/{name} created",
    ),
    ("priorityclass {name} --value=1000", "priorityclass.scheduling.k8s.io/{name} created"),
]


def words(line: str) -> list[str]:
    import shlex

    return shlex.split(line)


@pytest.mark.parametrize(
    ("line", "said"), CREATED, ids=[line.split(" ")[0] + "-" + line.split(" ")[1] for line, _ in CREATED]
)
def test_create_by_every_generator(served: Served, space: str, line: str, said: str) -> None:
    if line.startswith("rolebinding"):
        served.ok("create", "role", "r", "--verb=get", "--resource=pods", "-n", space)
    assert (
        served.ok(
            "create",
            *words(line.replace(" -- ", f" -n {space} -- ") if " -- " in line else f"{line} -n {space}"),
        )
        == said + "\n"
    )
    kind, _, name = said.split(" ", maxsplit=1)[0].partition("/")
    stored = json.loads(served.ok("get", kind, name, "-n", space, "-o", "json"))
    drawn = served.ok(
        "create",
        *words(
            line.replace(" -- ", " --dry-run=client -o json -- ")
            if " -- " in line
            else f"{line} --dry-run=client -o json"
        ),
    )
    assert_contains(stored, json.loads(drawn))


@pytest.mark.parametrize(("line", "said"), CREATED_EVERYWHERE)
def test_create_cluster_wide(served: Served, line: str, said: str) -> None:
    name = f"wide-{served.version.replace('.', '-')}"
    assert served.ok("create", *words(line.format(name=name))) == said.format(name=name) + "\n"


def assert_contains(stored: object, drawn: object, path: str = "") -> None:
    """Everything the client drew is stored, beside what the server added."""
    if isinstance(drawn, dict):
        assert isinstance(stored, dict), path
        for key, value in drawn.items():
            if value not in (None, {}, [], ""):
                assert key in stored, f"{path}.{key}"
                assert_contains(stored[key], value, f"{path}.{key}")
    elif isinstance(drawn, list):
        assert isinstance(stored, list) and len(stored) >= len(drawn), path
        for index, value in enumerate(drawn):
            assert_contains(stored[index], value, f"{path}[{index}]")
    else:
        assert stored == drawn, path


def test_get_in_every_output_form(served: Served, space: str) -> None:
    served.ok("apply", "-n", space, "-f", "-", stdin=DEPLOYMENT)
    get = ["get", "deployment", "web", "-n", space]
    table = served.ok(*get).splitlines()
    assert table[0].split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert table[1].split()[:4] == ["web", "0/2", "0", "0"]
    assert "nginx:1.19" in served.ok(*get, "-o", "wide")
    assert "kind: Deployment" in served.ok(*get, "-o", "yaml")
    assert json.loads(served.ok(*get, "-o", "json"))["spec"]["replicas"] == 2
    assert served.ok(*get, "-o", "name") == "deployment.apps/web\n"
    assert served.ok(*get, "-o", "jsonpath={.spec.replicas}") == "2"
    assert served.ok(*get, "-o", "go-template={{.spec.replicas}}") == "2"
    assert served.ok(*get, "-o", "custom-columns=N:.metadata.name,R:.spec.replicas").split() == [
        "N",
        "R",
        "web",
        "2",
    ]
    assert "app=web" in served.ok(*get, "--show-labels")
    assert served.ok(*get, "--no-headers").startswith("web")
    assert "manager: kubectl-client-side-apply" in served.ok(*get, "-o", "yaml", "--show-managed-fields")
    assert served.ok("get", "deploy", "-n", space, "-l", "app=web", "-o", "name") == "deployment.apps/web\n"
    assert "web" in served.ok("get", "deploy", "-A")
    assert (
        served.kubectl("get", "deploy", "-n", space, "-l", "app=no").stderr
        == f"No resources found in {space} namespace.\n"
    )
    assert "deployment.apps/web" in served.ok("get", "all", "-n", space)
    assert (
        served.ok("get", "deploy", "-n", space, "--chunk-size=1", "--sort-by=.metadata.name").count("web")
        == 1
    )


def test_apply_twice_and_diff(served: Served, space: str) -> None:
    apply = ["apply", "-n", space, "-f", "-"]
    assert (
        served.ok(*apply, "--dry-run=server", stdin=DEPLOYMENT)
        == "deployment.apps/web created (server dry run)\n"
    )
    assert served.kubectl("diff", "-n", space, "-f", "-", stdin=DEPLOYMENT).exit == 1
    assert served.ok(*apply, stdin=DEPLOYMENT) == "deployment.apps/web created\n"
    assert served.ok(*apply, stdin=DEPLOYMENT) == "deployment.apps/web unchanged\n"
    assert served.kubectl("diff", "-n", space, "-f", "-", stdin=DEPLOYMENT).exit == 0
    changed = DEPLOYMENT.replace("replicas: 2", "replicas: 5")
    difference = served.kubectl("diff", "-n", space, "-f", "-", stdin=changed)
    assert difference.exit == 1
    assert "+  replicas: 5" in difference.stdout
    assert served.ok(*apply, stdin=changed) == "deployment.apps/web configured\n"


def test_server_side_apply_with_a_conflict(served: Served, space: str) -> None:
    apply = ["apply", "--server-side", "-n", space, "-f", "-"]
    assert served.ok(*apply, stdin=CONFIG) == "configmap/settings serverside-applied\n"
    assert served.ok(*apply, stdin=CONFIG) == "configmap/settings serverside-applied\n"
    other = CONFIG.replace("key: value", "key: mine")
    refused = served.kubectl(*apply, "--field-manager=other", stdin=other)
    assert refused.exit == 1
    assert 'error: Apply failed with 1 conflict: conflict with "kubectl": .data.key' in refused.stderr
    served.ok(*apply, "--field-manager=other", "--force-conflicts", stdin=other)
    assert served.ok("get", "cm", "settings", "-n", space, "-o", "jsonpath={.data.key}") == "mine"


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("strategic", '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:2"}]}}}}'),
        ("merge", '{"spec":{"replicas":7}}'),
        (
            "json",
            '[{"op":"replace","path":"/spec/replicas","value":3},{"op":"add","path":"/metadata/labels/a","value":"b"}]',
        ),
    ],
)
def test_patch_of_every_type(served: Served, space: str, kind: str, patch: str) -> None:
    served.ok("apply", "-n", space, "-f", "-", stdin=DEPLOYMENT)
    patched = ["patch", "deploy", "web", "-n", space, f"--type={kind}", "-p", patch]
    assert served.ok(*patched) == "deployment.apps/web patched\n"
    assert served.ok(*patched) == "deployment.apps/web patched (no change)\n"


def test_edit_with_a_scripted_editor(served: Served, space: str, tmp_path: Path) -> None:
    served.ok("apply", "-n", space, "-f", "-", stdin=DEPLOYMENT)
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!{sys.executable}\nimport sys, pathlib\npath = pathlib.Path(sys.argv[1])\n"
        "path.write_text(path.read_text().replace('replicas: 2', 'replicas: 4'))\n"
    )
    editor.chmod(0o755)
    edited = served.kubectl("edit", "deploy", "web", "-n", space, env={"EDITOR": str(editor)})
    assert edited.stdout == "deployment.apps/web edited\n"
    assert served.ok("get", "deploy", "web", "-n", space, "-o", "jsonpath={.spec.replicas}") == "4"


def test_label_annotate_scale_and_set(served: Served, space: str) -> None:
    served.ok("apply", "-n", space, "-f", "-", stdin=DEPLOYMENT)
    on = ["deploy/web", "-n", space]
    assert served.ok("label", *on, "tier=front") == "deployment.apps/web labeled\n"
    assert served.ok("label", *on, "tier-") == "deployment.apps/web unlabeled\n"
    assert served.ok("annotate", *on, "note=hello") == "deployment.apps/web annotated\n"
    assert served.ok("scale", *on, "--replicas=6") == "deployment.apps/web scaled\n"
    assert served.ok("set", "image", *on, "nginx=nginx:1.20") == "deployment.apps/web image updated\n"
    assert served.ok("set", "env", *on, "MODE=debug") == "deployment.apps/web env updated\n"
    assert (
        served.ok("set", "resources", *on, "--limits=cpu=200m,memory=256Mi")
        == "deployment.apps/web resource requirements updated\n"
    )
    assert served.ok("set", "serviceaccount", *on, "robot") == "deployment.apps/web serviceaccount updated\n"
    assert (
        served.ok("autoscale", *on, "--min=1", "--max=3", "--cpu=80%")
        == "horizontalpodautoscaler.autoscaling/web autoscaled\n"
    )
    assert served.ok("expose", *on, "--port=80") == "service/web exposed\n"
    assert (
        served.ok("set", "selector", "svc/web", "-n", space, "app=other") == "service/web selector updated\n"
    )
    assert served.ok("rollout", "pause", *on) == "deployment.apps/web paused\n"
    spec = json.loads(served.ok("get", *on, "-o", "json"))["spec"]
    assert (spec["replicas"], spec["paused"]) == (6, True)
    assert spec["template"]["spec"]["containers"][0]["resources"]["limits"] == {
        "cpu": "200m",
        "memory": "256Mi",
    }


@pytest.mark.parametrize("policy", ["background", "foreground", "orphan"])
def test_delete_with_each_propagation_policy(served: Served, space: str, policy: str) -> None:
    served.ok("apply", "-n", space, "-f", "-", stdin=DEPLOYMENT)
    served.ok("delete", "deploy", "web", "-n", space, f"--cascade={policy}", "--wait=false")
    left = served.kubectl("get", "deploy", "web", "-n", space, "-o", "jsonpath={.metadata.finalizers}")
    if policy == "background":
        assert left.stderr == 'Error from server (NotFound): deployments.apps "web" not found\n'
    else:
        assert left.stdout == f'["{ {"foreground": "foregroundDeletion", "orphan": "orphan"}[policy] }"]'
        served.ok(
            "patch", "deploy", "web", "-n", space, "--type=merge", "-p", '{"metadata":{"finalizers":null}}'
        )
        assert served.kubectl("get", "deploy", "web", "-n", space).exit == 1


def test_explain_and_api_resources(served: Served) -> None:
    output = served.ok("explain", "deployment.spec.replicas")
    assert output.startswith(
        "GROUP:      apps\nKIND:       Deployment\nVERSION:    v1\n\nFIELD: replicas <integer>\n"
    )
    assert 'error: field "nosuch" does not exist' in served.kubectl("explain", "deploy.spec.nosuch").stderr
    assert "containers" in served.ok("explain", "pod.spec", "--recursive")
    listed = served.ok("api-resources", "--no-headers")
    assert len(listed.splitlines()) >= 60
    assert "apps/v1" in served.ok("api-versions")


def test_auth(served: Served, space: str) -> None:
    assert served.ok("auth", "can-i", "create", "deploy", "-n", space) == "yes\n"
    robot = f"--as=system:serviceaccount:{space}:robot"
    assert served.kubectl("auth", "can-i", "list", "pods", "-n", space, robot).stdout == "no\n"
    served.ok(
        "create", "rolebinding", "view", "--clusterrole=view", f"--serviceaccount={space}:robot", "-n", space
    )
    assert served.ok("auth", "can-i", "list", "pods", "-n", space, robot) == "yes\n"
    assert served.kubectl("get", "secrets", "-n", space, robot).stderr == (
        f'Error from server (Forbidden): secrets is forbidden: User "system:serviceaccount:{space}:robot" '
        f'cannot list resource "secrets" in API group "" in the namespace "{space}"\n'
    )
    assert "kubernetes-admin" in served.ok("auth", "whoami")
    assert "*.*" in served.ok("auth", "can-i", "--list")


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %(plural)s.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: %(plural)s, singular: %(singular)s, kind: %(kind)s, shortNames: [%(short)s]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Cron, type: string, jsonPath: .spec.cron}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [cron]
            properties:
              cron: {type: string, pattern: '^\\S+( \\S+){4}$'}
              replicas: {type: integer, minimum: 1, maximum: 10, default: 1}
          status:
            type: object
            properties: {replicas: {type: integer}}
"""


def test_custom_resources(served: Served, space: str) -> None:
    tag = served.version.replace(".", "")
    names = {
        "plural": f"crontabs{tag}",
        "singular": f"crontab{tag}",
        "kind": f"CronTab{tag}",
        "short": f"ct{tag}",
    }
    served.ok("apply", "-f", "-", stdin=CRD % names)
    served.ok(
        "wait", "--for=condition=Established", f"crd/{names['plural']}.stable.example.com", "--timeout=240s"
    )
    tab = f"""\
apiVersion: stable.example.com/v1
kind: {names["kind"]}
metadata: {{name: mine}}
spec: {{cron: "* * * * *"}}
"""
    assert (
        served.ok("apply", "-n", space, "-f", "-", stdin=tab)
        == f"{names['singular']}.stable.example.com/mine created\n"
    )
    shown = served.ok("get", names["short"], "-n", space).splitlines()
    assert shown[0].split() == ["NAME", "CRON", "REPLICAS"]
    assert shown[1].split() == ["mine", "*", "*", "*", "*", "*", "1"]
    served.ok("scale", names["plural"], "mine", "--replicas=3", "-n", space)
    assert served.ok("get", names["short"], "mine", "-n", space, "-o", "jsonpath={.spec.replicas}") == "3"
    bad = served.kubectl("apply", "-n", space, "-f", "-", stdin=tab.replace('"* * * * *"', '"often"'))
    assert "spec.cron in body should match" in bad.stderr
    bad = served.kubectl("apply", "-n", space, "-f", "-", stdin=tab.replace("cron:", "crom:"))
    assert 'unknown field "spec.crom"' in bad.stderr
    assert "cron" in served.ok("explain", f"{names['plural']}.spec")
    served.ok("delete", "crd", f"{names['plural']}.stable.example.com")
    gone = served.kubectl("get", names["plural"], "-n", space).stderr
    assert "the server could not find the requested resource" in gone


def test_watch_shows_what_happens(served: Served, space: str) -> None:
    import subprocess
    import time

    from tests.simcloud.server.kubernetes.served import CLIENTS

    command = [str(CLIENTS / f"kubectl-{served.version}"), "get", "cm", "-n", space, "-w", "-o", "name"]
    env = {"KUBECONFIG": str(served.kubeconfig), "HOME": str(served.home), "PATH": "/usr/bin:/bin"}
    watcher = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert watcher.stdout is not None
        time.sleep(0.5)
        for name in ("one", "two"):
            served.ok("create", "cm", name, "-n", space)
        seen = [watcher.stdout.readline() for _ in range(2)]
        assert seen == ["configmap/one\n", "configmap/two\n"]
    finally:
        watcher.kill()
        watcher.wait()

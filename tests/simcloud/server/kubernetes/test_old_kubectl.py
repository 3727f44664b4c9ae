"""kubectl 1.20, which knows neither OpenAPI v3 nor aggregated discovery nor server-side validation.

It validates and explains by the one document of OpenAPI v2, in protobuf, and takes merge keys from there too. Three of
its ways end at any server of today, ours included: ``create cronjob`` and ``create poddisruptionbudget`` speak of API
versions that are gone; and ``exec``, ``attach``, ``cp`` and ``port-forward`` need SPDY, which ours does not serve.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.simcloud.server.kubernetes.served import OLD, Served

pytestmark = pytest.mark.live("kubectl-1.20")

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


@pytest.fixture(scope="module")
def served(served_cluster: Served, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The cluster by the old client, which keeps what it discovered apart from the others."""
    return replace(served_cluster, version=OLD, env={"HOME": str(tmp_path_factory.mktemp("old"))})


def read(served: Served, space: str, *what: str) -> Any:
    return json.loads(served.ok("get", *what, "-n", space, "-o", "json"))


@pytest.fixture
def web(served: Served, space: str) -> str:
    """A namespace with the Deployment ``web``."""
    assert served.ok("apply", "-n", space, "-f", "-", stdin=DEPLOYMENT) == "deployment.apps/web created\n"
    return space


def test_discovery(served: Served) -> None:
    lines = served.ok("api-resources").splitlines()
    assert lines[0].split() == ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
    rows = [line.split() for line in lines[1:]]
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in rows
    assert ["nodes", "no", "v1", "false", "Node"] in rows
    assert ["events", "ev", "events.k8s.io/v1", "true", "Event"] in rows
    assert {"v1", "apps/v1", "autoscaling/v2", "rbac.authorization.k8s.io/v1"} <= set(
        served.ok("api-versions").split()
    )


def test_get_in_every_form(served: Served, web: str) -> None:
    def get(*form: str) -> str:
        return served.ok("get", "deploy", "-n", web, *form)

    assert get().splitlines()[0].split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert "CONTAINERS   IMAGES       SELECTOR" in get("-o", "wide")
    assert get("--no-headers").startswith("web ")
    assert get("-o", "name") == "deployment.apps/web\n"
    assert get("-o", "jsonpath={.items[*].spec.replicas}") == "2"
    assert get("-o", "go-template={{len .items}}") == "1"
    assert get("-o", "custom-columns=N:.metadata.name,R:.spec.replicas") == "N     R\nweb   2\n"
    assert json.loads(get("-o", "json"))["items"][0]["kind"] == "Deployment"
    assert get("-o", "yaml").startswith("apiVersion: v1\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n")
    assert get("-l", "app=other", "-o", "name") == ""
    assert get("--show-labels").splitlines()[1].split()[-1] == "app=web"


CREATED = [
    ("create deployment d --image=nginx:1.19 --replicas=2", "deployment.apps/d created"),
    ("create configmap c --from-literal=a=b", "configmap/c created"),
    ("create secret generic s --from-literal=p=w", "secret/s created"),
    ("create serviceaccount sa", "serviceaccount/sa created"),
    ("create job j --image=busybox -- date", "job.batch/j created"),
    ("create ingress i --rule=foo.com/bar*=svc:8080", "ingress.networking.k8s.io/i created"),
    ("create quota q --hard=pods=10", "resourcequota/q created"),
    ("create role r --verb=get --resource=pods", "role.rbac.authorization.k8s.io/r created"),
    (
        "create rolebinding rb --clusterrole=view --user=jane",
        "rolebinding.rbac.authorization.k8s.io/rb created",
    ),
    ("create service clusterip ci --tcp=80:8080", "service/ci created"),
    ("create service nodeport np --tcp=80", "service/np created"),
    ("run p --image=nginx:1.19 --port=80", "pod/p created"),
]


@pytest.mark.parametrize(
    ("line", "said"), CREATED, ids=[said.split()[0].replace("/", "-") for _, said in CREATED]
)
def test_generators(served: Served, space: str, line: str, said: str) -> None:
    assert served.ok("-n", space, *shlex.split(line)) == f"{said}\n"
    assert (
        served.ok("-n", space, "get", said.split(maxsplit=1)[0], "-o", "name")
        == f"{said.split(maxsplit=1)[0]}\n"
    )


def test_expose_and_autoscale(served: Served, web: str) -> None:
    assert served.ok("expose", "deployment", "web", "--port=80", "-n", web) == "service/web exposed\n"
    assert read(served, web, "service", "web")["spec"]["selector"] == {"app": "web"}
    said = served.ok("autoscale", "deployment", "web", "--min=1", "--max=5", "--cpu-percent=50", "-n", web)
    assert said == "horizontalpodautoscaler.autoscaling/web autoscaled\n"
    assert read(served, web, "hpa.v1.autoscaling", "web")["spec"]["targetCPUUtilizationPercentage"] == 50


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "create cronjob c --image=busybox --schedule=@daily",
            "error: failed to create cronjob: the server could not find the requested resource (post cronjobs.batch)\n",
        ),
        (
            "create poddisruptionbudget p --selector=a=b --min-available=1",
            'error: no matches for kind "PodDisruptionBudget" in version "policy/v1beta1"\n',
        ),
    ],
)
def test_generators_of_versions_that_are_gone(served: Served, space: str, line: str, said: str) -> None:
    assert served.kubectl("-n", space, *shlex.split(line)).stderr == said


def test_apply_again_changes_what_changed(served: Served, web: str) -> None:
    def apply(manifest: str) -> str:
        return served.ok("apply", "-n", web, "-f", "-", stdin=manifest)

    assert apply(DEPLOYMENT) == "deployment.apps/web unchanged\n"
    served.ok("set", "env", "deployment/web", "ADDED=yes", "-n", web)
    changed = DEPLOYMENT.replace("nginx:1.19", "nginx:1.20")
    difference = served.kubectl("diff", "-n", web, "-f", "-", stdin=changed)
    assert difference.exit == 1
    assert "nginx:1.19\n" in difference.stdout and "nginx:1.20\n" in difference.stdout
    assert apply(changed) == "deployment.apps/web configured\n"
    (container,) = read(served, web, "deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "nginx:1.20"
    assert container["env"] == [{"name": "ADDED", "value": "yes"}], "merged by name, not replaced"


BROKEN = [
    (
        "replicas: 2",
        "replicaz: 2",
        'ValidationError(Deployment.spec): unknown field "replicaz" in io.k8s.api.apps.v1.DeploymentSpec',
    ),
    (
        "replicas: 2",
        "replicas: two",
        "ValidationError(Deployment.spec.replicas): invalid type for io.k8s.api.apps.v1.DeploymentSpec.replicas: "
        'got "string", expected "integer"',
    ),
    (
        "  selector: {matchLabels: {app: web}}\n",
        "",
        'ValidationError(Deployment.spec): missing required field "selector" in io.k8s.api.apps.v1.DeploymentSpec',
    ),
    (
        "[{containerPort: 80}]",
        "{containerPort: 80}",
        "ValidationError(Deployment.spec.template.spec.containers[0].ports): invalid type for "
        'io.k8s.api.core.v1.Container.ports: got "map", expected "array"',
    ),
]


@pytest.mark.parametrize("verb", ["apply", "create"])
@pytest.mark.parametrize(("right", "wrong", "said"), BROKEN)
def test_broken_manifests_are_found_by_the_client(
    served: Served, verb: str, right: str, wrong: str, said: str
) -> None:
    result = served.kubectl(verb, "-f", "-", stdin=DEPLOYMENT.replace(right, wrong))
    assert result.stderr == (
        f'error: error validating "STDIN": error validating data: {said}; if you choose to ignore these errors, '
        "turn validation off with --validate=false\n"
    )


def test_quantities_and_ports_may_be_numbers_or_text(served: Served, space: str) -> None:
    pod = """\
apiVersion: v1
kind: Pod
metadata: {name: mixed}
spec:
  containers:
  - name: c
    image: nginx:1.19
    resources: {limits: {cpu: 1, memory: 64Mi}}
    livenessProbe: {httpGet: {port: web}}
    readinessProbe: {httpGet: {port: 80}}
    ports: [{name: web, containerPort: 80}]
"""
    assert served.ok("create", "-n", space, "-f", "-", stdin=pod) == "pod/mixed created\n"


def test_a_kind_that_nobody_knows(served: Served) -> None:
    result = served.kubectl("apply", "-f", "-", stdin="apiVersion: foo/v1\nkind: Foo\nmetadata: {name: x}\n")
    assert result.stderr == (
        'error: unable to recognize "STDIN": no matches for kind "Foo" in version "foo/v1"\n'
    )


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("strategic", '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:2"}]}}}}'),
        ("merge", '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:2"}]}}}}'),
        ("json", '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"nginx:2"}]'),
    ],
)
def test_patch_of_every_type(served: Served, web: str, kind: str, patch: str) -> None:
    assert (
        served.ok("patch", "deploy", "web", f"--type={kind}", "-p", patch, "-n", web)
        == "deployment.apps/web patched\n"
    )
    (container,) = read(served, web, "deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "nginx:2"
    assert ("ports" in container) == (kind != "merge"), "a merge patch replaces lists"


def test_edit(served: Served, web: str, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/replicas: 2/replicas: 4/" "$1"\n')
    editor.chmod(0o755)
    result = served.kubectl("edit", "deploy", "web", "-n", web, env={"KUBE_EDITOR": str(editor)})
    assert result.stdout == "deployment.apps/web edited\n"
    assert read(served, web, "deploy", "web")["spec"]["replicas"] == 4


def test_label_annotate_scale_and_set(served: Served, web: str) -> None:
    changes = [
        ("label deploy/web tier=front", "deployment.apps/web labeled"),
        ("annotate deploy/web note=hi", "deployment.apps/web annotated"),
        ("scale deploy/web --replicas=3", "deployment.apps/web scaled"),
        ("set image deploy/web nginx=nginx:1.21", "deployment.apps/web image updated"),
        ("set env deploy/web A=B", "deployment.apps/web env updated"),
        ("set resources deploy/web --limits=cpu=200m", "deployment.apps/web resource requirements updated"),
        ("rollout restart deploy/web", "deployment.apps/web restarted"),
        ("rollout pause deploy/web", "deployment.apps/web paused"),
    ]
    for line, said in changes:
        assert served.ok("-n", web, *line.split()) == f"{said}\n"
    deployment = read(served, web, "deploy", "web")
    assert deployment["metadata"]["labels"] == {"app": "web", "tier": "front"}
    assert deployment["metadata"]["annotations"]["note"] == "hi"
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["paused"] is True
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "nginx:1.21"
    assert container["env"] == [{"name": "A", "value": "B"}]
    assert container["resources"] == {"limits": {"cpu": "200m"}}
    restarted = deployment["spec"]["template"]["metadata"]["annotations"]
    assert list(restarted) == ["kubectl.kubernetes.io/restartedAt"]


def test_server_side_apply(served: Served, web: str) -> None:
    served.ok("set", "image", "deploy/web", "nginx=nginx:1.21", "-n", web)
    changed = DEPLOYMENT.replace("nginx:1.19", "nginx:1.20")
    result = served.kubectl("apply", "--server-side", "-n", web, "-f", "-", stdin=changed)
    assert result.stderr.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl-set" using apps/v1: '
        '.spec.template.spec.containers[name="nginx"].image\n'
    )
    said = served.ok("apply", "--server-side", "--force-conflicts", "-n", web, "-f", "-", stdin=changed)
    assert said == "deployment.apps/web serverside-applied\n"


def test_dry_run_and_delete(served: Served, web: str) -> None:
    scaled = DEPLOYMENT.replace("replicas: 2", "replicas: 9")
    said = served.ok("apply", "--dry-run=server", "-n", web, "-f", "-", stdin=scaled)
    assert said == "deployment.apps/web configured (server dry run)\n"
    assert read(served, web, "deploy", "web")["spec"]["replicas"] == 2
    assert served.ok("delete", "deploy", "web", "-n", web) == 'deployment.apps "web" deleted\n'
    result = served.kubectl("get", "deploy", "web", "-n", web)
    assert result.stderr == 'Error from server (NotFound): deployments.apps "web" not found\n'


def test_explain(served: Served) -> None:
    assert (
        served.ok("explain", "deploy.spec.replicas")
        == """\
KIND:     Deployment
VERSION:  apps/v1

FIELD:    replicas <integer>

DESCRIPTION:
     Number of desired pods. This is a pointer to distinguish between explicit
     zero and not specified. Defaults to 1.
"""
    )
    spec = served.ok("explain", "deploy.spec")
    assert "RESOURCE: spec <Object>\n" in spec
    assert "   template\t<Object> -required-\n" in spec
    tree = served.ok("explain", "pods", "--recursive")
    assert "\n   spec\t<Object>\n" in tree
    assert "\n      containers\t<[]Object>\n         args\t<[]string>\n" in tree
    assert "            limits\t<map[string]string>\n" in tree
    result = served.kubectl("explain", "deploy.spec.nosuch")
    assert result.stderr == 'error: field "nosuch" does not exist\n'


def test_may_i(served: Served) -> None:
    assert served.ok("auth", "can-i", "create", "pods") == "yes\n"
    denied = served.kubectl("auth", "can-i", "create", "pods", "--as=nobody")
    assert (denied.stdout, denied.exit) == ("no\n", 1)
    assert "*.*" in served.ok("auth", "can-i", "--list")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("get nosuch", 'error: the server doesn\'t have a resource type "nosuch"\n'),
        ("get pod nosuch", 'Error from server (NotFound): pods "nosuch" not found\n'),
        ("get pods -n nosuch", "No resources found in nosuch namespace.\n"),
        (
            "get pods --as=nobody",
            'Error from server (Forbidden): pods is forbidden: User "nobody" cannot list resource "pods" in API group '
            '"" in the namespace "default"\n',
        ),
        (
            "create namespace default",
            'Error from server (AlreadyExists): namespaces "default" already exists\n',
        ),
        ("top nodes", "error: Metrics API not available\n"),
    ],
)
def test_errors(served: Served, line: str, said: str) -> None:
    assert served.kubectl(*line.split()).stderr == said


def test_a_node_is_drained_by_eviction(served: Served, space: str) -> None:
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: nginx:1.19}]}\n"
    )
    served.ok("create", "-n", space, "-f", "-", stdin=pod)
    eviction = {
        "apiVersion": "policy/v1beta1",
        "kind": "Eviction",
        "metadata": {"name": "p", "namespace": space},
    }
    address = f"/api/v1/namespaces/{space}/pods/p/eviction"
    said = json.loads(served.ok("create", "--raw", address, "-f", "-", stdin=json.dumps(eviction)))
    assert said["status"] == "Success"


DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: oldtabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: oldtabs, singular: oldtab, kind: OldTab, shortNames: [ot]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Spec, type: string, jsonPath: .spec.cronSpec}]
    schema:
      openAPIV3Schema:
        type: object
        description: A table of jobs.
        properties:
          spec:
            type: object
            required: [cronSpec]
            properties:
              cronSpec: {type: string, description: When to run.}
              replicas: {type: integer, minimum: 1}
              maybe: {type: string, nullable: true}
"""
CUSTOM = """\
apiVersion: stable.example.com/v1
kind: OldTab
metadata: {name: one}
spec: {cronSpec: "* * * * *", replicas: 2, maybe: null}
"""


def test_custom_resources(served: Served, space: str, tmp_path: Path) -> None:
    name = "customresourcedefinition.apiextensions.k8s.io/oldtabs.stable.example.com"
    assert served.ok("apply", "-f", "-", stdin=DEFINITION) == f"{name} created\n"
    served.ok("wait", "--for=condition=Established", name, "--timeout=10s")

    def apply(manifest: str) -> str:
        return served.ok("apply", "-n", space, "-f", "-", stdin=manifest)

    assert apply(CUSTOM) == "oldtab.stable.example.com/one created\n"
    assert apply(CUSTOM) == "oldtab.stable.example.com/one unchanged\n"
    assert apply(CUSTOM.replace("replicas: 2", "replicas: 3")) == "oldtab.stable.example.com/one configured\n"
    assert served.ok("get", "ot", "-n", space) == "NAME   SPEC\none    * * * * *\n"

    broken = served.kubectl("apply", "-n", space, "-f", "-", stdin=CUSTOM.replace("replicas", "replicaz"))
    assert (
        'ValidationError(OldTab.spec): unknown field "replicaz" in com.example.stable.v1.OldTab.spec;'
        in broken.stderr
    )
    explained = served.ok("explain", "oldtab.spec")
    assert "KIND:     OldTab\nVERSION:  stable.example.com/v1\n" in explained
    assert "   cronSpec\t<string> -required-\n     When to run.\n" in explained

    patch = ("patch", "ot", "one", "-n", space, "-p", '{"spec":{"replicas":4}}')
    assert served.kubectl(*patch).stderr == (
        "Error from server (UnsupportedMediaType): the body of the request was in an unknown format - accepted media "
        "types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml\n"
    )
    assert served.ok(*patch, "--type=merge") == "oldtab.stable.example.com/one patched\n"

    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/replicas: 4/replicas: 5/" "$1"\n')
    editor.chmod(0o755)
    edited = served.kubectl("edit", "ot", "one", "-n", space, env={"KUBE_EDITOR": str(editor)})
    assert edited.stdout == "oldtab.stable.example.com/one edited\n"
    assert read(served, space, "ot", "one")["spec"]["replicas"] == 5
    assert served.ok("delete", "ot", "one", "-n", space) == 'oldtab.stable.example.com "one" deleted\n'
    assert served.ok("delete", name).endswith(' "oldtabs.stable.example.com" deleted\n')

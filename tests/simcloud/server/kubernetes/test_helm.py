"""A genuine helm installs, upgrades, rolls back and removes a chart of the usual objects.

Nothing here waits for pods: what helm tells and what it leaves in the cluster is looked at.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from tests.genuine import HELM
from tests.simcloud.server.kubernetes.served import Result, Served

pytestmark = pytest.mark.live("helm", "kubectl")

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\nappVersion: '1.0'\n",
    "values.yaml": "replicas: 1\nimage: nginx:1.19\ngreeting: hello\nlabels: {}\n",
    "templates/serviceaccount.yaml": """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
""",
    "templates/role.yaml": """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .Release.Name }}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .Release.Name }}
subjects:
- kind: ServiceAccount
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .Release.Name }}
""",
    "templates/configmap.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ .Values.greeting | quote }}
""",
    "templates/service.yaml": """\
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: {{ .Release.Name }}}
  ports:
  - {name: http, port: 80, targetPort: http}
""",
    "templates/deployment.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  {{- with .Values.labels }}
  labels: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers:
      - name: web
        image: {{ .Values.image }}
        ports:
        - {name: http, containerPort: 80}
""",
    "templates/NOTES.txt": "Say {{ .Values.greeting }}.\n",
}
_NUMBERS = count(1)


class Release:
    """A chart and the namespace that it is installed into."""

    def __init__(self, served: Served, folder: Path, space: str) -> None:
        self.served, self.folder, self.space = served, folder, space

    def helm(self, *arguments: str) -> Result:
        homes = {name: str(self.folder) for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")}
        return self.served.run([str(HELM), "-n", self.space, *arguments], env=homes)

    def ok(self, *arguments: str) -> str:
        result = self.helm(*arguments)
        assert result.exit == 0, f"helm {' '.join(arguments)}: {result.stderr}"
        return result.stdout

    def get(self, kind: str) -> dict[str, object]:
        made: dict[str, object] = json.loads(
            self.served.ok("get", kind, "shop", "-n", self.space, "-o", "json")
        )
        return made


@pytest.fixture
def release(served_cluster: Served, tmp_path: Path) -> Release:
    for name, text in CHART.items():
        path = tmp_path / "chart" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    space = f"helm-{next(_NUMBERS)}"
    served_cluster.ok("create", "namespace", space)
    return Release(served_cluster, tmp_path, space)


def lines(text: str) -> list[str]:
    """What helm says of a release, without the time of it."""
    return [line for line in text.splitlines() if not line.startswith("LAST DEPLOYED")]


def test_install_status_and_uninstall(release: Release) -> None:
    chart = str(release.folder / "chart")
    assert lines(release.ok("install", "shop", chart)) == [
        "NAME: shop",
        f"NAMESPACE: {release.space}",
        "STATUS: deployed",
        "REVISION: 1",
        "TEST SUITE: None",
        "NOTES:",
        "Say hello.",
    ]
    table = release.ok("list").splitlines()
    assert table[0].split() == [
        "NAME",
        "NAMESPACE",
        "REVISION",
        "UPDATED",
        "STATUS",
        "CHART",
        "APP",
        "VERSION",
    ]
    assert table[1].split()[:3] == ["shop", release.space, "1"]
    assert table[1].split()[-3:] == ["deployed", "shop-0.1.0", "1.0"]
    assert "STATUS: deployed" in release.ok("status", "shop")
    assert "deployment.apps/shop" not in release.ok("status", "shop")
    assert "==> v1/Deployment\nNAME   READY   UP-TO-DATE   AVAILABLE   AGE\nshop   0/1" in release.ok(
        "status", "shop", "--show-resources"
    )
    assert release.get("deployment")["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "Helm"}
    assert release.ok("uninstall", "shop") == 'release "shop" uninstalled\n'
    kinds = "deployments,services,roles,rolebindings,secrets"
    assert release.served.kubectl("get", kinds, "-n", release.space).stdout == ""
    assert release.helm("status", "shop").stderr == "Error: release: not found\n"


def test_the_manifest_is_what_the_template_says(release: Release) -> None:
    chart = str(release.folder / "chart")
    drawn = release.ok("template", "shop", chart, "--set", "greeting=ahoy")
    assert drawn.count("\nkind: ") == 6
    release.ok("install", "shop", chart, "--set", "greeting=ahoy", "--no-hooks")
    assert release.ok("get", "manifest", "shop").strip() == drawn.strip()
    assert json.loads(release.ok("get", "values", "shop", "-o", "json")) == {"greeting": "ahoy"}
    assert release.ok("get", "notes", "shop") == "NOTES:\nSay ahoy.\n\n"
    assert release.get("configmap")["data"] == {"greeting": "ahoy"}


def test_upgrade_history_and_rollback(release: Release) -> None:
    chart = str(release.folder / "chart")
    release.ok("install", "shop", chart)
    upgraded = release.ok("upgrade", "shop", chart, "--set", "replicas=3,labels.tier=front,image=nginx:1.20")
    assert upgraded.startswith('Release "shop" has been upgraded. Happy Helming!\n')
    assert "REVISION: 2" in upgraded
    spec = release.get("deployment")["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (3, "nginx:1.20")
    assert release.ok("rollback", "shop", "1") == "Rollback was a success! Happy Helming!\n"
    back = release.get("deployment")
    assert back["spec"]["replicas"] == 1
    assert back["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "Helm"}
    history = json.loads(release.ok("history", "shop", "-o", "json"))
    assert [(one["revision"], one["status"], one["description"]) for one in history] == [
        (1, "superseded", "Install complete"),
        (2, "superseded", "Upgrade complete"),
        (3, "deployed", "Rollback to 1"),
    ]
    secrets = release.served.ok("get", "secrets", "-n", release.space, "-o", "name").split()
    assert secrets == [f"secret/sh.helm.release.v1.shop.v{number}" for number in (1, 2, 3)]


def test_an_upgrade_installs_what_is_not_there(release: Release) -> None:
    chart = str(release.folder / "chart")
    said = release.ok("upgrade", "--install", "shop", chart, "--create-namespace")
    assert said.startswith('Release "shop" does not exist. Installing it now.\n')
    dry = release.ok("upgrade", "shop", chart, "--set", "replicas=9", "--dry-run=server")
    assert "STATUS: pending-upgrade" in dry
    assert release.get("deployment")["spec"]["replicas"] == 1


def test_what_the_server_refuses_is_told(release: Release) -> None:
    chart = release.folder / "chart"
    release.ok("install", "shop", str(chart))
    taken = release.helm("install", "shop", str(chart))
    assert (taken.exit, taken.stderr) == (
        1,
        "Error: INSTALLATION FAILED: cannot re-use a name that is still in use\n",
    )
    broken = chart / "templates" / "broken.yaml"
    broken.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 0}]}\n")
    refused = release.helm("upgrade", "shop", str(chart))
    assert refused.exit == 1
    assert 'Service "bad" is invalid: [spec.ports[0].port: Invalid value: 0' in refused.stderr
    broken.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {porst: []}\n")
    misspelt = release.helm("upgrade", "shop", str(chart))
    assert misspelt.exit == 1
    assert 'Service "bad" is invalid: spec.ports: Required value' in misspelt.stderr
    broken.write_text("apiVersion: no.such/v1\nkind: Thing\nmetadata: {name: bad}\n")
    unknown = release.helm("upgrade", "shop", str(chart))
    assert 'no matches for kind "Thing" in version "no.such/v1"' in unknown.stderr
    statuses = [one["status"] for one in json.loads(release.ok("history", "shop", "-o", "json"))]
    assert statuses[0] == "deployed" and set(statuses[1:]) <= {"failed"}

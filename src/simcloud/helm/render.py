"""Renders a chart with values to manifests, for ``install``, ``upgrade`` and ``template``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from simcloud.golang import Int
from simcloud.helm.charts import Chart
from simcloud.helm.engine import Engine, Lookup, no_lookup, top_values
from simcloud.helm.errors import HelmError, RenderError
from simcloud.helm.functions.versions import read_version, semver_matches
from simcloud.helm.manifests import Hook, Manifest, sort_rendered
from simcloud.helm.objects import OFFLINE_VERSION, Capabilities
from simcloud.helm.schema import check_schema
from simcloud.helm.values import choose_dependencies, coalesce

if TYPE_CHECKING:
    from simcloud.helm.session import Helm


NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
NOTES: Final = "NOTES.txt"
LONGEST_NAME: Final = 53

OFFLINE_APIS: Final = (
    "v1", "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1", "internal.apiserver.k8s.io/v1alpha1", "apps/v1", "apps/v1beta1",
    "apps/v1beta2", "authentication.k8s.io/v1", "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1", "authorization.k8s.io/v1", "authorization.k8s.io/v1beta1",
    "autoscaling/v1", "autoscaling/v2", "autoscaling/v2beta1", "autoscaling/v2beta2", "batch/v1",
    "batch/v1beta1", "certificates.k8s.io/v1", "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1", "coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1", "discovery.k8s.io/v1", "discovery.k8s.io/v1beta1", "events.k8s.io/v1",
    "events.k8s.io/v1beta1", "extensions/v1beta1", "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3", "networking.k8s.io/v1", "networking.k8s.io/v1alpha1",
    "networking.k8s.io/v1beta1", "node.k8s.io/v1", "node.k8s.io/v1alpha1", "node.k8s.io/v1beta1",
    "policy/v1", "policy/v1beta1", "rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1", "resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1", "storage.k8s.io/v1", "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1alpha1", "apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1",
)  # fmt: skip


class Rendered(Struct):
    """What a chart has become."""

    manifests: list[Manifest] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    notes: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def manifest(self) -> str:
        """As a release holds it."""
        return "".join(document.format_document() for document in self.manifests)


def check_name(name: str) -> None:
    """Refuse what is no name of a release."""
    if not NAME.match(name) or len(name) > LONGEST_NAME:
        raise HelmError(
            f'release name "{name}": invalid release name, must match regex '
            r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be "
            f"longer than {LONGEST_NAME}"
        )


def offline_capabilities(version: str = "", more: list[str] | None = None) -> Capabilities:
    """What helm takes a cluster for that it does not ask."""
    return Capabilities(version or OFFLINE_VERSION, [*OFFLINE_APIS, *(more or ())])


def render(
    helm: Helm,
    chart: Chart,
    given: dict[str, Any],
    release: dict[str, Any],
    capabilities: Capabilities,
    lookup: Lookup = no_lookup,
    *,
    subchart_notes: bool = False,
    check: bool = True,
    lint: bool = False,
) -> Rendered:
    """Render a chart; raises ``HelmError``."""
    choose_dependencies(chart, given, helm.warnings.append)
    if chart.metadata.get("type") == "library" and not lint:
        raise HelmError("library charts are not installable")
    # the genuine tool goes over values twice for a chart with dependencies, and tells its warnings each time
    values = coalesce(chart, given, helm.warnings.append)
    if check:
        check_schema(chart, values)
    try:
        return _render(helm, chart, values, release, capabilities, lookup, subchart_notes, lint)
    except HelmError as error:
        raise RenderError(str(error)) from None


def _render(
    helm: Helm,
    chart: Chart,
    values: dict[str, Any],
    release: dict[str, Any],
    capabilities: Capabilities,
    lookup: Lookup,
    subchart_notes: bool,
    lint: bool,
) -> Rendered:
    wanted = str(chart.metadata.get("kubeVersion") or "")
    version = capabilities.kube_version.version
    if wanted and not semver_matches(wanted, read_version(version)):
        raise HelmError(
            f"chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {version}"
        )
    stream = helm.door.kernel.random("helm.templates")
    engine = Engine(helm.door.now_s, stream, lookup, lint=lint)
    texts = engine.render(chart, top_values(values, release, capabilities))
    notes = "\n".join(
        texts[name]
        for name in sorted(texts)
        if name.endswith(NOTES) and (subchart_notes or name == f"{chart.path}/templates/{NOTES}")
    )
    rest = {name: text for name, text in texts.items() if not name.endswith(NOTES)}
    hooks, manifests = sort_rendered(rest)
    return Rendered(manifests, hooks, notes, values)


def release_facts(name: str, namespace: str, revision: int, *, upgrade: bool) -> dict[str, Any]:
    """``.Release``."""
    return {
        "Name": name,
        "Namespace": namespace,
        "IsInstall": not upgrade,
        "IsUpgrade": upgrade,
        "Revision": Int(revision),
        "Service": "Helm",
    }

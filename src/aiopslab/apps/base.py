"""The base class of applications: how an application is deployed, how users use it, and its service level objectives.

An application is plain data for the layers above: deployment needs manifests or a chart, and images; load needs journeys and
the front door; judging needs objectives; diagnosis needs topology and owners. This module runs nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import yaml

from aiopslab.apps.names import ORIGINAL, Names
from aiopslab.apps.past import Past
from aiopslab.utils import AIOpsLabError
from simcloud.kubernetes.api import Object

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

NODE_PORT: Final = "node port"
INGRESS: Final = "ingress"
"""How users enter an application: by its Service's node port, or over TLS by an ingress controller."""
FIRST_NODE: Final = "172.18.0.2"
"""The address of a cluster's first node, at which node ports can be reached from outside."""


def _read_texts(folder: Traversable, prefix: str = "") -> dict[str, str]:
    """Return the text files of a folder and its subfolders by path, sorted; empty if there is no such folder."""
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name) if folder.is_dir() else ():
        if entry.is_dir():
            found.update(_read_texts(entry, f"{prefix}{entry.name}/"))
        else:
            found[prefix + entry.name] = entry.read_text("utf-8")
    return found


def accept_any(answer: Any) -> bool:
    """Accept every answer."""
    return True


@dataclass(frozen=True, slots=True)
class Journey:
    """A kind of user request: its relative frequency, how to build a request, and which answers are correct.

    Requests and answers have the type of the front door: HTTP messages, or calls for an RPC door.
    """

    name: str
    weight: float
    request: Callable[[Random], Any]
    accepts: Callable[[Any], bool] = accept_any
    promises: Callable[[Any, Any], tuple[str, ...]] | None = None
    """Given a request and its correct answer, returns an id for each write that the answer acknowledges."""


@dataclass(frozen=True, slots=True)
class FrontDoor:
    """The Service that users connect to, and its node port."""

    service: str
    port: int
    node_port: int


@dataclass(frozen=True, slots=True)
class Objective:
    """The objective of a journey: the share of correct answers and the 99th percentile of latency."""

    journey: str
    success: float
    p99_s: float


Role = Literal["front end", "service", "mongodb", "redis", "memcached", "registry", "tracing"]


@dataclass(frozen=True, slots=True)
class DatabaseUser:
    """The user as whom a database's callers log in."""

    name: str
    password: str
    roles: tuple[tuple[str, str], ...]
    """Each role with its database; the last is for the callers' own."""


@dataclass(frozen=True, slots=True)
class Component:
    """A workload: its owner, the components it calls, what it is, and who needs it."""

    name: str
    owner: str
    calls: tuple[str, ...] = ()
    persistent: bool = False
    """Whether its data outlives its pod."""
    role: Role = "service"
    journeys: tuple[str, ...] = ()
    """The journeys whose users notice when it is down."""
    found_by: Literal["Service", "registry"] = "Service"
    """How its callers find it: by a Service of Kubernetes, or in the application's own registry."""
    login: str = ""
    """The administrator's options for the database's shell, if the database asks who connects."""
    user: DatabaseUser | None = None
    """The callers' user, if the database asks who connects."""
    written: bool = False
    """Whether it is a store that users' requests write to."""
    needs_data: bool = False
    """Whether it is a store whose users fail when reads find nothing."""
    busy: bool = False
    """Whether it needs more CPU time than the smallest limit leaves: the kubelet rounds limits up to 10m."""
    config_file: str = ""
    """The file with addresses in the ConfigMap of its name, if there is one; it is mounted by ``subPath``."""

    def rename(self, names: Names) -> Component:
        """Return the component, the components it calls and its database under other names."""
        user = self.user
        if user is not None:
            user = replace(user, roles=tuple((role, names.rename(database)) for role, database in user.roles))
        calls = tuple(map(names.rename, self.calls))
        return replace(self, name=names.rename(self.name), calls=calls, user=user)


class NoOtherNames(AIOpsLabError):
    """There are no other names for what the message names."""

    def __init__(self, what: str) -> None:
        super().__init__(f"There are no other names for {what}. Leave out +names, or --vary names.")


def format_audit(namespace: str, label: str, command: str) -> str:
    """Return the line that runs a command in the newest running pod with a label; pods that have ended are left out."""
    pods = f"kubectl get pods -n {namespace} -l {label} --field-selector=status.phase=Running"
    newest = f"$({pods} --sort-by=.metadata.creationTimestamp -o name | tail -1)"
    return f"kubectl exec -n {namespace} {newest} -- {command}"


@cache
def _parse_manifest(text: str) -> tuple[Object, ...]:
    return tuple(obj for obj in yaml.load_all(text, yaml.CSafeLoader) if obj is not None)


class Application:
    """The base class of applications. A subclass sets the class variables and publishes its images."""

    name: ClassVar[str]
    about: ClassVar[str] = ""
    """Its purpose and its architecture, for the description of problems."""
    short_name: ClassVar[str] = ""
    """The name in the ids of problems, such as ``hotel_res``; the name itself unless set."""
    namespace: ClassVar[str]
    front_door: ClassVar[FrontDoor]
    components: ClassVar[tuple[Component, ...]]
    journeys: ClassVar[tuple[Journey, ...]]
    objectives: ClassVar[tuple[Objective, ...]]
    shared_folders: ClassVar[tuple[str, ...]] = ()
    """Folders that all nodes share: hostPath volumes there keep their data when a pod moves to another node."""
    cooling: ClassVar[tuple[str, ...]] = ()
    """Operator's commands that empty the caches, so that judging does not see cached data."""
    chart_values: ClassVar[tuple[str, ...]] = ()
    """Values files of the chart that are used in addition to its default values."""
    audit: ClassVar[str] = ""
    """Operator's command that prints the id of every stored write, as in ``Journey.promises``."""
    audited: ClassVar[str] = ""
    """The component that stores these writes."""
    retrying: ClassVar[Mapping[str, str]] = {}
    """Images of a release in which callers time out and retry, by component: first the callee, then its callers."""
    tls_variable: ClassVar[str] = ""
    """The environment variable that switches on TLS in a service, if there is one."""
    past: ClassVar[Past | None] = None
    """Earlier release and manual changes at a site; None for an application without history."""
    other_names: ClassVar[Names | None] = None
    """Other names under which the application can be deployed, if there are any."""
    names: Names = ORIGINAL
    """The names under which this instance is deployed."""
    deploys_itself: ClassVar[bool] = False
    """Whether the application's own ``deploy`` deploys it, instead of its manifests or its chart."""

    def use_other_names(self) -> Self:
        """Return the application under its other names; raises ``NoOtherNames``.

        Its programs and its data must use ``names``; everything else that has names is renamed here.
        """
        names = self.other_names
        if names is None:
            raise NoOtherNames(f"the components of {self.name}")
        rename, renamed = names.rename, copy(self)
        past = self.past and replace(self.past, by_hand=tuple(map(rename, self.past.by_hand)))
        vars(renamed).update(
            names=names,
            components=tuple(component.rename(names) for component in self.components),
            front_door=replace(self.front_door, service=rename(self.front_door.service)),
            cooling=tuple(map(rename, self.cooling)),
            audit=rename(self.audit),
            audited=rename(self.audited),
            retrying={rename(name): image for name, image in self.retrying.items()},
            past=past,
            manifest_files={rename(name): rename(text) for name, text in self.manifest_files.items()},
            chart_files={name: rename(text) for name, text in self.chart_files.items()},
            runbooks={name: rename(text) for name, text in self.runbooks.items()},
        )
        return renamed

    def build_data(self, written_s: float) -> Mapping[str, bytes]:
        """Build the files that an earlier release left in the shared folders, by path."""
        return {}

    def publish(self, registry: ImageRegistry) -> None:
        """Add the images of the manifests to a registry."""
        raise NotImplementedError

    def deploy(self) -> None:
        """Deploy the application on the current cloud; only one that ``deploys_itself`` has a deployment of its own."""
        raise NotImplementedError

    def find_parts(self) -> None:
        """Find the components and the front door of an application that ``deploys_itself``, once it is deployed."""
        raise NotImplementedError

    @property
    def ns(self) -> str:
        """The namespace, under the name that the papers use."""
        return self.namespace

    @property
    def frontend_service(self) -> str:
        """The Service of the front door, under the name of the public release."""
        return self.front_door.service

    @property
    def frontend_port(self) -> int:
        """The port of that Service."""
        return self.front_door.port

    def get_app_json(self) -> dict[str, Any]:
        """Return the name, the namespace and the description, with the keys of the public release."""
        operations = [journey.name for journey in self.journeys]
        about = {"Name": self.name, "Namespace": self.namespace, "Desc": self.about}
        return {**about, "Supported Operations": operations}

    def get_app_summary(self) -> str:
        """Return what ``get_app_json`` returns, as text for an agent."""
        known = self.get_app_json()
        operations = "".join(f"\n  - {name}" for name in known.get("Supported Operations", ()))
        about = f"Service Name: {known['Name']}\nNamespace: {known['Namespace']}"
        return f"{about}\nDescription: {known.get('Desc', '')}\nSupported Operations:{operations}"

    @property
    def host(self) -> str:
        """The public name of the application, which its users' requests are for."""
        return f"{self.name}.example"

    @property
    def frontend_url(self) -> str:
        """The URL of the application for users outside the cluster."""
        return f"http://{FIRST_NODE}:{self.front_door.node_port}"

    @cached_property
    def manifest_files(self) -> Mapping[str, str]:
        """The YAML files of the folder ``manifests`` beside the application's module, by name."""
        found = _read_texts(self._folder / "manifests")
        return {name: text for name, text in found.items() if name.endswith(".yaml")}

    @cached_property
    def chart_files(self) -> Mapping[str, str]:
        """The files of the application's Helm chart by path; empty if it is deployed from manifests."""
        return _read_texts(self._folder / "chart")

    @cached_property
    def runbooks(self) -> Mapping[str, str]:
        """The operators' runbooks by file name, from the folder ``runbooks``."""
        return _read_texts(self._folder / "runbooks")

    @property
    def _folder(self) -> Traversable:
        kind = next(kind for kind in type(self).__mro__ if "name" in vars(kind))
        return files(kind.__module__.rpartition(".")[0])

    def manifests(self) -> list[Object]:
        """Return all objects of the manifests, in the order in which they are applied; do not change them."""
        return [obj for text in self.manifest_files.values() for obj in _parse_manifest(text)]

    def component(self, name: str) -> Component:
        """Return the component of that name; raises ``KeyError``."""
        for component in self.components:
            if component.name == name:
                return component
        raise KeyError(name)

    def find_callers(self, name: str) -> list[str]:
        """Return the names of the components that call a component directly."""
        return [component.name for component in self.components if name in component.calls]

    def find_needed(self, name: str) -> list[str]:
        """Return the names of the components that a component finds by a Service and cannot do without."""
        called = map(self.component, self.component(name).calls)
        return [
            other.name
            for other in called
            if other.found_by == "Service" and other.role not in ("memcached", "tracing")
        ]

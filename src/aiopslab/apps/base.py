"""The base class of applications: how an application is deployed, how users use it, and its service level objectives.

An application is plain data for the layers above: deployment needs manifests or a chart, and images; load needs journeys and
the front door; judging needs objectives; diagnosis needs topology and owners. This module runs nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Final

import yaml

from aiopslab.apps.past import Past
from simcloud.kubernetes.api import Object

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

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


@dataclass(frozen=True, slots=True)
class Component:
    """A workload: its owner, the components it calls, and whether its data outlives its pod."""

    name: str
    owner: str
    calls: tuple[str, ...] = ()
    persistent: bool = False


class Application:
    """The base class of applications. A subclass sets the class variables and publishes its images."""

    name: ClassVar[str]
    about: ClassVar[str] = ""
    """Its purpose and its architecture, for the description of problems."""
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
    past: ClassVar[Past | None] = None
    """Earlier release and manual changes at a site; None for an application without history."""

    def publish(self, registry: ImageRegistry) -> None:
        """Add the images of the manifests to a registry."""
        raise NotImplementedError

    @property
    def ns(self) -> str:
        """The namespace, under the name that the papers use."""
        return self.namespace

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
        return files(type(self).__module__.rpartition(".")[0])

    def manifests(self) -> list[Object]:
        """Return all objects of the manifests, in the order in which they are applied."""
        texts = self.manifest_files.values()
        return [obj for text in texts for obj in yaml.safe_load_all(text) if obj is not None]

    def component(self, name: str) -> Component:
        """Return the component of that name; raises ``KeyError``."""
        for component in self.components:
            if component.name == name:
                return component
        raise KeyError(name)

    def find_callers(self, name: str) -> list[str]:
        """Return the names of the components that call a component directly."""
        return [component.name for component in self.components if name in component.calls]

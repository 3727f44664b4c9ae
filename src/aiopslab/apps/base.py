"""What every application tells of itself: how it is deployed, how users meet it, and what is expected of it.

An application is plain data to those above it: whoever deploys it needs manifests or a chart, and images, whoever sends
load needs journeys and the front door, whoever judges it needs objectives, and whoever draws or asks needs topology and owners.
Nothing here runs.
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
from simcloud.kubernetes.api.objects import Object

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry

FIRST_NODE: Final = "172.18.0.2"
"""The address of a cluster's first node: one of those where node ports are reached from outside."""


def _texts(folder: Traversable, below: str = "") -> dict[str, str]:
    """The files of a folder and those below it, by path and in its order; none when there is no such folder."""
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name) if folder.is_dir() else ():
        if entry.is_dir():
            found.update(_texts(entry, f"{below}{entry.name}/"))
        else:
            found[below + entry.name] = entry.read_text("utf-8")
    return found


def anything(answer: Any) -> bool:
    """Every answer is right."""
    return True


@dataclass(frozen=True, slots=True)
class Journey:
    """One thing that users do: how often compared with the others, how it is asked, and what is a right answer.

    Requests and answers are of the kind that the front door takes: HTTP messages, unless it is one for calls.
    """

    name: str
    weight: float
    request: Callable[[Random], Any]
    accepts: Callable[[Any], bool] = anything
    promises: Callable[[Any, Any], tuple[str, ...]] | None = None
    """What a right answer to a request says has been written, each in a word."""


@dataclass(frozen=True, slots=True)
class FrontDoor:
    """The Service that users reach, and the port of every node that leads to it from outside."""

    service: str
    port: int
    node_port: int


@dataclass(frozen=True, slots=True)
class Objective:
    """What users of a journey are promised: the share of right answers, and how long nearly all of them take."""

    journey: str
    success: float
    p99_s: float


@dataclass(frozen=True, slots=True)
class Component:
    """One workload: who looks after it, whom it asks, and whether what it keeps outlives its pod."""

    name: str
    owner: str
    calls: tuple[str, ...] = ()
    persistent: bool = False


class Application:
    """The base of applications. A subclass sets the class variables and publishes its images."""

    name: ClassVar[str]
    about: ClassVar[str] = ""
    """What it is for and made of, in a sentence."""
    namespace: ClassVar[str]
    front_door: ClassVar[FrontDoor]
    components: ClassVar[tuple[Component, ...]]
    journeys: ClassVar[tuple[Journey, ...]]
    objectives: ClassVar[tuple[Objective, ...]]
    shared_folders: ClassVar[tuple[str, ...]] = ()
    """Folders that are the same on all nodes: where hostPath volumes keep what must outlive the move of a pod."""
    cooling: ClassVar[tuple[str, ...]] = ()
    """Command lines of an operator that empty the caches, so that they hide nothing."""
    chart_values: ClassVar[tuple[str, ...]] = ()
    """Files of the chart with values that it is installed with, beside its usual ones."""
    audit: ClassVar[str] = ""
    """A command line of an operator that prints every write that is kept, in the words of journeys' promises."""
    audited: ClassVar[str] = ""
    """The component that keeps them."""
    past: ClassVar[Past | None] = None
    """What it has been through at a site; None for one that was deployed there just now."""

    def publish(self, registry: ImageRegistry) -> None:
        """Put the images that the manifests name into a registry."""
        raise NotImplementedError

    @property
    def ns(self) -> str:
        """The namespace, by its short name."""
        return self.namespace

    @property
    def frontend_url(self) -> str:
        """Where users outside the cluster find the application."""
        return f"http://{FIRST_NODE}:{self.front_door.node_port}"

    @cached_property
    def manifest_files(self) -> Mapping[str, str]:
        """The manifests as files, by name: the folder ``manifests`` beside the application's own module."""
        found = _texts(self._folder / "manifests")
        return {name: text for name, text in found.items() if name.endswith(".yaml")}

    @cached_property
    def chart_files(self) -> Mapping[str, str]:
        """The files of a Helm chart by their paths in it, for an application that is deployed by one; else none."""
        return _texts(self._folder / "chart")

    @cached_property
    def runbooks(self) -> Mapping[str, str]:
        """What operators of the application have written down for each other, by file name: the folder ``runbooks``."""
        return _texts(self._folder / "runbooks")

    @property
    def _folder(self) -> Traversable:
        return files(type(self).__module__.rpartition(".")[0])

    def manifests(self) -> list[Object]:
        """Every object of the manifests, in the order in which they are applied."""
        texts = self.manifest_files.values()
        return [obj for text in texts for obj in yaml.safe_load_all(text) if obj is not None]

    def component(self, name: str) -> Component:
        """The component of a name; raises ``KeyError`` when there is none."""
        for one in self.components:
            if one.name == name:
                return one
        raise KeyError(name)

    def callers_of(self, name: str) -> list[str]:
        """Who asks a component directly."""
        return [one.name for one in self.components if name in one.calls]

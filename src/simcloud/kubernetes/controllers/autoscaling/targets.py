"""The pods that autoscalers target, and autoscalers that target the same pods."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import LabelSelector
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import NamespacedName
from simcloud.kubernetes.controllers.endpoints.members import LabelIndex, labels_of


class Targets:
    """Pods by their labels, and autoscalers by what they select."""

    def __init__(self, client: ComponentClient) -> None:
        self._client = client
        self._pods = LabelIndex()
        self._selecting = LabelIndex()
        self._selectors: dict[NamespacedName, LabelSelector] = {}
        client.follow("pods", self._pods.note)

    def pods(self, key: NamespacedName, selector: LabelSelector) -> list[Object]:
        """The pods that an autoscaler's target selects, by name."""
        self._note(key, selector)
        item = _first(selector)
        if item == ("", ""):
            return self._client.list("pods", key.namespace, selector)
        found = self._pods.get(key.namespace, *item)
        return [found[name] for name in sorted(found) if selector.matches(labels_of(found[name]))]

    def autoscalers(self, namespace: str, pods: list[Object]) -> list[str]:
        """The names of all autoscalers that select one of these pods."""
        names: dict[str, None] = {}
        for pod in pods:
            labels = labels_of(pod)
            for item in (("", ""), *labels.items()):
                for name in self._selecting.get(namespace, *item):
                    if self._selectors[NamespacedName(namespace, name)].matches(labels):
                        names[name] = None
        return sorted(names)

    def forget(self, key: NamespacedName) -> None:
        """An autoscaler is gone."""
        selector = self._selectors.pop(key, None)
        if selector is not None:
            self._selecting.drop(key.namespace, [_first(selector)], key.name)

    def _note(self, key: NamespacedName, selector: LabelSelector) -> None:
        if self._selectors.get(key) != selector:
            self.forget(key)
            self._selectors[key] = selector
            self._selecting.put(key.namespace, [_first(selector)], {"metadata": {"name": key.name}})


def _first(selector: LabelSelector) -> tuple[str, str]:
    """A label that all selected pods have, if the selector names one."""
    for requirement in selector.requirements:
        if requirement.operator in ("=", "==", "in") and len(requirement.values) == 1:
            return requirement.key, requirement.values[0]
    return "", ""

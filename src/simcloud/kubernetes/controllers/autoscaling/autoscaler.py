"""HorizontalPodAutoscalers: the number of replicas follows the pods' resource usage.

Each autoscaler is synced 15 s after its creation and every 15 s from then on. Resource metrics come from the server
of ``metrics.k8s.io``; custom and external metrics are not served, and an autoscaler that needs them reports an error.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.quantity import milli, parse, render
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.selectors import parse_labels
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.autoscaling.behavior import History, normalize
from simcloud.kubernetes.controllers.autoscaling.metrics import TOLERANCE, Calculator, NoReading, Tolerance
from simcloud.kubernetes.controllers.autoscaling.targets import Targets
from simcloud.kubernetes.controllers.disruption import go_selector

PERIOD_S: Final = 15.0
AUTOSCALERS: Final = "horizontalpodautoscalers.autoscaling"
_NO_CUSTOM: Final = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"


class Unscalable(Exception):
    """The autoscaler cannot tell how many replicas there should be."""


class InvalidMetric(Exception):
    """One metric gives no number: what is wrong, under which reason."""

    def __init__(self, reason: str, message: str, prefix: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.chain = prefix + message


@controller("horizontal-pod-autoscaler")
class Autoscaling(Controller):
    """Scales what autoscalers refer to."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._calculator = Calculator(api)
        self._histories: dict[NamespacedName, History] = {}

    targets: Targets

    def watch(self) -> None:
        self.targets = Targets(self.client)
        self.follow(AUTOSCALERS, self._see)

    def _see(self, write: Revision) -> None:
        key = NamespacedName(write.key.namespace, write.key.name)
        if write.change == "DELETED":
            self._histories.pop(key, None)
            self.targets.forget(key)
        else:
            self.queue.add_after(key, PERIOD_S)

    def sync(self, key: NamespacedName) -> None:
        autoscaler = self.client.get(AUTOSCALERS, *key)
        if autoscaler is None:
            return
        self.queue.add_after(key, PERIOD_S)
        changed: Object = copy(autoscaler)
        changed.setdefault("status", {})
        try:
            self._reconcile(key, changed)
        except Unscalable:
            pass  # what is wrong stands in the conditions; the next look comes in its time
        if changed["status"] != autoscaler.get("status"):
            try:
                self.client.update_status(changed)
            except ApiError:
                return  # somebody changed it meanwhile; the next look sees that

    def _reconcile(self, key: NamespacedName, autoscaler: Object) -> None:
        spec, status = autoscaler["spec"], autoscaler["status"]
        resource, scale = self._scale(autoscaler)
        current = at(scale, "spec", "replicas", default=0)
        history = self._histories.setdefault(key, History())
        if not history.recommended:
            history.recommended.append((self.api.now_s, current))
        least, metrics = spec.get("minReplicas", 1), None
        desired, reason = current, ""
        if current == 0 and least != 0:
            words = "scaling is disabled since the replica count of the target is zero"
            self._set(autoscaler, "ScalingActive", False, "ScalingDisabled", words)
        elif current > spec["maxReplicas"]:
            desired, reason = spec["maxReplicas"], "Current number of replicas above Spec.MaxReplicas"
        elif current < least:
            desired, reason = least, "Current number of replicas below Spec.MinReplicas"
        else:
            status["currentReplicas"] = current
            pods = self._pods(key, autoscaler, scale)
            wanted, name, metrics = self._by_metrics(autoscaler, pods, current)
            reason = f"{name} above target" if wanted > current else "All metrics below target"
            desired = self._normalize(autoscaler, history, current, wanted)
        if desired != current:
            self._rescale(autoscaler, resource, scale, desired, reason)
            history.record_scaling(self.api.now_s, current, desired, spec)
            status["lastScaleTime"] = self.api.timestamp()
        status["currentReplicas"], status["desiredReplicas"] = current, desired
        status["currentMetrics"] = metrics

    def _normalize(self, autoscaler: Object, history: History, current: int, wanted: int) -> int:
        result = normalize(autoscaler["spec"], history, current, wanted, self.api.now_s)
        self._set(autoscaler, "AbleToScale", True, *result.able)
        self._set(autoscaler, "ScalingLimited", result.limited, *result.limit)
        return result.replicas

    # The target.

    def _scale(self, autoscaler: Object) -> tuple[Resource, Object]:
        target, namespace = autoscaler["spec"]["scaleTargetRef"], autoscaler["metadata"]["namespace"]
        kind = target["kind"]
        version = target.get("apiVersion", "v1")
        resource = self.api.catalogue.of_kind(version, kind)
        group = version.rpartition("/")[0]
        if resource is None:
            words = f'no matches for kind "{kind}" in group "{group}"'
            raise self._unable(autoscaler, words)
        try:
            scale = self.api.subresource("get", resource, namespace, target["name"], "scale")
        except ApiError as error:
            raise self._unable(autoscaler, error.message) from None
        words = "the HPA controller was able to get the target's current scale"
        self._set(autoscaler, "AbleToScale", True, "SucceededGetScale", words)
        return resource, scale

    def _unable(self, autoscaler: Object, error: str) -> Unscalable:
        self.recorder.event(autoscaler, "Warning", "FailedGetScale", error)
        words = f"the HPA controller was unable to get the target's current scale: {error}"
        self._set(autoscaler, "AbleToScale", False, "FailedGetScale", words)
        return Unscalable(error)

    def _rescale(
        self, autoscaler: Object, resource: Resource, scale: Object, desired: int, reason: str
    ) -> None:
        name, namespace = scale["metadata"]["name"], autoscaler["metadata"]["namespace"]
        wanted = {**copy(scale), "spec": {"replicas": desired}}
        size = f"New size: {desired}; reason: {reason}"
        try:
            self.api.subresource("update", resource, namespace, name, "scale", wanted, self.client.caller)
        except ApiError as error:
            self.recorder.event(autoscaler, "Warning", "FailedRescale", f"{size}; error: {error.message}")
            words = f"the HPA controller was unable to update the target scale: {error.message}"
            self._set(autoscaler, "AbleToScale", False, "FailedUpdateScale", words)
            autoscaler["status"]["currentReplicas"] = at(scale, "spec", "replicas", default=0)
            raise Unscalable(words) from None
        words = f"the HPA controller was able to update the target scale to {desired}"
        self._set(autoscaler, "AbleToScale", True, "SucceededRescale", words)
        self.recorder.event(autoscaler, "Normal", "SuccessfulRescale", size)

    # The metrics.

    def _pods(self, key: NamespacedName, autoscaler: Object, scale: Object) -> list[Object]:
        """The pods of the target, which must be nobody else's to scale."""
        text = at(scale, "status", "selector", default="")
        if not text:
            words = "the HPA target's scale is missing a selector"
            self._set(autoscaler, "ScalingActive", False, "InvalidSelector", words)
            self.recorder.event(autoscaler, "Warning", "SelectorRequired", "selector is required")
            raise self._report_failure(autoscaler, "selector is required")
        pods = self.targets.pods(key, parse_labels(text))
        rivals = self.targets.autoscalers(key.namespace, pods)
        if len(rivals) > 1:
            named = " ".join(f"{key.namespace}/{name}" for name in rivals)
            words = f"pods by selector {text} are controlled by multiple HPAs: [{named}]"
            self._set(autoscaler, "ScalingActive", False, "AmbiguousSelector", words)
            self.recorder.event(autoscaler, "Warning", "AmbiguousSelector", words)
            raise self._report_failure(autoscaler, words)
        return pods

    def _by_metrics(
        self, autoscaler: Object, pods: list[Object], current: int
    ) -> tuple[int, str, list[Object]]:
        """The most replicas that a metric asks for, that metric's name, and all readings."""
        specs = autoscaler["spec"].get("metrics") or []
        wanted, name, readings, failures = 0, "", [], []
        for spec in specs:
            try:
                proposed, proposed_name, reading = self._by_metric(autoscaler, spec, pods, current)
            except InvalidMetric as failure:
                self.recorder.event(autoscaler, "Warning", failure.reason, str(failure))
                failures.append(failure)
                continue
            readings.append(reading)
            if wanted == 0 or proposed > wanted:
                wanted, name = proposed, proposed_name
        if failures and (len(failures) >= len(specs) or wanted < current):
            first = failures[0]
            words = f"the HPA was unable to compute the replica count: {first}"
            self._set(autoscaler, "ScalingActive", False, first.reason, words)
            counted = f"invalid metrics ({len(failures)} invalid out of {len(specs)}), first error is: "
            raise self._report_failure(autoscaler, counted + first.chain)
        words = f"the HPA was able to successfully calculate a replica count from {name}"
        self._set(autoscaler, "ScalingActive", True, "ValidMetricFound", words)
        return wanted, name, readings

    def _report_failure(self, autoscaler: Object, words: str) -> Unscalable:
        self.recorder.event(autoscaler, "Warning", "FailedComputeMetricsReplicas", words)
        return Unscalable(words)

    def _by_metric(
        self, autoscaler: Object, spec: Object, pods: list[Object], current: int
    ) -> tuple[int, str, Object]:
        namespace = autoscaler["metadata"]["namespace"]
        match spec["type"]:
            case "Resource":
                return self._by_resource(autoscaler, spec["resource"], "", pods, current)
            case "ContainerResource":
                source = spec["containerResource"]
                return self._by_resource(autoscaler, source, source["container"], pods, current)
            case "Pods":
                words = f"unable to get metric {spec['pods']['metric']['name']}: {_NO_CUSTOM}"
                raise InvalidMetric("FailedGetPodsMetric", words, "failed to get pods metric value: ")
            case "Object":
                described = spec["object"]["describedObject"]
                place = f"{described['kind']} on {namespace} {described['name']}/{_NO_CUSTOM}"
                words = f"unable to get metric {spec['object']['metric']['name']}: {place}"
                raise InvalidMetric("FailedGetObjectMetric", words, "failed to get object metric value: ")
        metric = spec["external"]["metric"]
        where = f"{namespace}/{metric['name']}/{go_selector(metric.get('selector'))}"
        words = (
            f"unable to get external metric {where}: unable to fetch metrics from external metrics API: the "
            f"server could not find the requested resource (get {metric['name']}.external.metrics.k8s.io)"
        )
        prefix = f"failed to get {metric['name']} external metric value: "
        raise InvalidMetric("FailedGetExternalMetric", words, prefix)

    def _by_resource(
        self, autoscaler: Object, source: Object, container: str, pods: list[Object], current: int
    ) -> tuple[int, str, Object]:
        name, target = source["name"], source["target"]
        kind = "container resource" if container else "resource"
        average = target.get("averageValue")
        tolerance = _tolerance(autoscaler["spec"])
        try:
            if average is not None:
                wanted = self._calculator.by_average(
                    pods, name, container, milli(average), current, tolerance
                )
            else:
                share = target["averageUtilization"]
                wanted = self._calculator.by_utilization(pods, name, container, share, current, tolerance)
        except NoReading as error:
            reason = "FailedGetContainerResourceMetric" if container else "FailedGetResourceMetric"
            words = f"failed to get {name} {'usage' if average is not None else 'utilization'}: {error}"
            prefix = f"failed to get {name} {'container' if container else 'resource'} metric value: "
            raise InvalidMetric(reason, words, prefix) from None
        value = {"averageValue": render(parse(wanted.average_milli) / 1000)}
        reading: Object = {"name": name, "current": value}
        if container:
            reading["container"] = container
        if wanted.utilization is not None:
            reading["current"] = {"averageUtilization": wanted.utilization, **value}
            name = f"{name} {kind} utilization (percentage of request)"
        else:
            name = f"{name} {kind}"
        if container:
            return wanted.replicas, name, {"type": "ContainerResource", "containerResource": reading}
        return wanted.replicas, name, {"type": "Resource", "resource": reading}

    def _set(self, autoscaler: Object, kind: str, holds: bool, reason: str, message: str) -> None:
        """Set a condition; its time changes with its status only."""
        conditions = autoscaler["status"].setdefault("conditions", [])
        status = "True" if holds else "False"
        known = next((condition for condition in conditions if condition["type"] == kind), None)
        if known is None:
            known = {"type": kind}
            conditions.append(known)
        if known.get("status") != status:
            known["lastTransitionTime"] = self.api.timestamp()
        known |= {"status": status, "reason": reason, "message": message}


def _tolerance(spec: Object) -> Tolerance:
    up = at(spec, "behavior", "scaleUp", "tolerance")
    down = at(spec, "behavior", "scaleDown", "tolerance")
    return Tolerance(
        down=TOLERANCE if down is None else float(parse(down)),
        up=TOLERANCE if up is None else float(parse(up)),
    )

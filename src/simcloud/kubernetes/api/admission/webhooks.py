"""MutatingAdmissionWebhook and ValidatingAdmissionWebhook: call webhooks over the network about a write.

Calls go through ``WebhookCaller``, which the cluster's network provides. ``write_retries`` describes how a write
waits for a response. Without a caller every call fails as if nothing listened, so a stale configuration breaks
writes, as in a real cluster.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from simcloud.kubernetes.api.admission.expressions import conditions_hold, scope_of
from simcloud.kubernetes.api.admission.match_rules import GROUP, exempt, match_resource
from simcloud.kubernetes.api.admission.plugin import Quiet
from simcloud.kubernetes.api.admission.review import admission_request, new_object, old_object
from simcloud.kubernetes.api.cel import CelError
from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.errors import ApiError, BadRequest, InternalError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.patch.json_patch import apply_json_patch
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema.decoding import check_kind, decode
from simcloud.kubernetes.api.store import Key, RevisionLog
from simcloud.kubernetes.api.write_retries import Pending, WriteRetry

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write


CONFIGURATIONS: Final = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_HARMLESS: Final = ("None", "NoneOnDryRun")


class Hook(NamedTuple):
    """One webhook of one configuration."""

    configuration: str
    webhook: Object

    @property
    def name(self) -> str:
        """The webhook's own name."""
        return str(self.webhook["name"])


class MutatingWebhooks(Quiet):
    """Calls webhooks one after the other; each sees the changes of those before it."""

    def admit(self, write: Write) -> None:
        for hook, resource in _find_hooks(write, CONFIGURATIONS[0]):
            again = hook.webhook.get("reinvocationPolicy") == "IfNeeded"
            place = (hook.configuration, hook.name)
            if write.round and (not again or place not in write.invoked):
                continue
            write.invoked.add(place)
            response = _ask(write, hook, resource)
            if response is not None and _apply_patch(write, hook, resource, response):
                write.reinvoke = True


class ValidatingWebhooks(Quiet):
    """Calls all of them about the finished object and raises the first refusal."""

    def check(self, write: Write) -> None:
        first: ApiError | None = None
        for hook, resource in _find_hooks(write, CONFIGURATIONS[1]):
            try:
                _ask(write, hook, resource)
            except ApiError as refusal:
                first = first or refusal
        if first is not None:
            raise first


def _find_hooks(write: Write, plural: str) -> list[tuple[Hook, Resource]]:
    """Return the webhooks that match a write, in the order of their configurations' names."""
    configurations = write.api.log.objects(GROUP, plural)
    if not configurations or exempt(write):
        return []
    found = []
    for configuration in configurations:
        for webhook in configuration.get("webhooks") or ():
            resource = match_resource(write, webhook, "rules")
            if resource is not None and _matches_conditions(write, webhook, resource):
                found.append((Hook(configuration["metadata"]["name"], webhook), resource))
    return found


def _matches_conditions(write: Write, webhook: Object, resource: Resource) -> bool:
    conditions = webhook.get("matchConditions") or []
    if not conditions:
        return True
    try:
        return conditions_hold(conditions, scope_of(write, resource))
    except CelError as error:
        if webhook.get("failurePolicy") == "Ignore":
            return False
        raise InternalError(
            f'failed calling webhook "{webhook["name"]}": match conditions failed: {error}'
        ) from None


def _ask(write: Write, hook: Hook, resource: Resource) -> Object | None:
    """Return the webhook's response if it allows the write; None if the call failed and failures are ignored."""
    if write.options.dry_run and hook.webhook.get("sideEffects") not in _HARMLESS:
        raise BadRequest(f'admission webhook "{hook.name}" does not support dry run')
    try:
        response = _call(write, hook, resource)
    except CallFailed as error:
        if hook.webhook.get("failurePolicy") == "Ignore":
            return None
        raise make_call_error(hook.name, str(error)) from None
    write.options.warnings.extend(str(warning) for warning in response.get("warnings") or ())
    if response.get("allowed") is not True:
        raise make_denial(hook.name, response.get("status"))
    return response


def _call(write: Write, hook: Hook, resource: Resource) -> Object:
    """Return the webhook's response: a new one, or the one already received for the same question."""
    api = write.api
    review = _review(write, hook, resource)
    timeout_s = int(hook.webhook.get("timeoutSeconds") or 10)
    config = hook.webhook["clientConfig"]
    url = f"{url_of(config)}?timeout={timeout_s}s"
    question = _question(url, hook, review, write)
    pending = api.retry.find(question) if api.retry is not None else None
    try:
        if pending is not None:
            answer = pending.answer()
        else:
            answer = (api.webhooks or NobodyListens(api.log)).call(url, config, review, timeout_s)
            if isinstance(answer, Pending):
                raise (api.retry or WriteRetry()).add(question, answer)
    except Rejected as error:
        raise CallFailed(f"failed to call webhook: {error}") from None
    except CallFailed as error:
        raise CallFailed(f'failed to call webhook: Post "{url}": {error}') from None
    return _response(answer, review["request"]["uid"])


def _review(write: Write, hook: Hook, resource: Resource) -> Object:
    request = admission_request(write, resource, write.api.new_uid())
    request["object"] = copy(new_object(write, resource))
    request["oldObject"] = copy(old_object(write, resource))
    version = next(iter(hook.webhook.get("admissionReviewVersions") or ()), "v1")
    return {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": request}


def _question(url: str, hook: Hook, review: Object, write: Write) -> bytes:
    """A review in the words that are the same each time the same is asked: without its time."""
    request = review["request"]
    if request["object"] is not None and write.operation != "DELETE":
        volatile = ("managedFields", *(("creationTimestamp",) if write.operation == "CREATE" else ()))
        metadata = request["object"].get("metadata") or {}
        lasting = {name: value for name, value in metadata.items() if name not in volatile}
        request = {**request, "object": {**request["object"], "metadata": lasting}}
    return msgspec.json.encode([hook.configuration, hook.name, write.round, url, request])


def url_of(config: Object) -> str:
    """Where a webhook is asked: its URL, or the name of its Service."""
    if config.get("url"):
        return str(config["url"])
    service = config["service"]
    path = service.get("path") or "/"
    return f"https://{service['name']}.{service['namespace']}.svc:{service.get('port', 443)}{path}"


class NobodyListens:
    """A network on which no webhook answers."""

    def __init__(self, log: RevisionLog) -> None:
        self._log = log

    def call(self, url: str, client_config: Object, review: Object, timeout_s: int) -> Any:
        """Fail as the connection would fail."""
        service = client_config.get("service")
        if service is None:
            host = url.split("/")[2]
            name, _, port = host.partition(":")
            if name.replace(".", "").isdigit():
                raise CallFailed(f"dial tcp {name}:{port or 443}: connect: connection refused")
            raise CallFailed(f"dial tcp: lookup {name}: no such host")
        found = self._log.get(Key("", "services", service["namespace"], service["name"]))
        if found is None:
            raise CallFailed(f'service "{service["name"]}" not found')
        address = found["spec"].get("clusterIP")
        raise CallFailed(f"dial tcp {address}:{service.get('port', 443)}: connect: connection refused")


def _response(answer: Any, uid: str) -> Object:
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict):
        raise CallFailed("received invalid webhook response: webhook response was absent")
    if response.get("uid") != uid:
        said = response.get("uid", "")
        raise CallFailed(f'received invalid webhook response: expected response.uid="{uid}", got "{said}"')
    return response


def _apply_patch(write: Write, hook: Hook, resource: Resource, response: Object) -> bool:
    """Apply the webhook's patch; whether it changed anything."""
    encoded = response.get("patch")
    if not encoded:
        return False
    shown = new_object(write, resource)
    if shown is None:
        raise InternalError(
            f'admission webhook "{hook.name}" attempted to modify the object, '
            "which is not supported for this operation"
        )
    try:
        operations = msgspec.json.decode(base64.b64decode(encoded))
    except (ValueError, TypeError, binascii.Error, msgspec.DecodeError) as error:
        if hook.webhook.get("failurePolicy") == "Ignore":
            return False
        raise make_call_error(hook.name, f"received undecodable patch in webhook response: {error}") from None
    try:
        changed = apply_json_patch(shown, operations)
        check_kind(changed, resource)
    except ApiError as error:
        raise InternalError(error.message) from None
    kept = convert(decode(changed, resource).obj, write.resource)
    apply_defaults(write.resource, kept, decoded=write.resource is resource)
    if kept == write.new:
        return False
    take_over(write.new, kept)
    return True


def take_over(obj: Object, changed: Object) -> None:
    """Put what was changed into the object itself: others hold on to it and to its metadata."""
    metadata = obj["metadata"]
    said = changed.pop("metadata", {})
    metadata.clear()
    metadata.update(said)
    obj.clear()
    obj.update(changed, metadata=metadata)


class CallFailed(Exception):
    """No answer came, or none that can be used; the text says why, as Go's HTTP client would."""


class Rejected(CallFailed):
    """An answer came that is no review; the text is a Kubernetes client's, which does not name the URL."""


def make_call_error(name: str, why: str) -> ApiError:
    """A call failed, and the webhook does not want to be passed over."""
    return InternalError(f'failed calling webhook "{name}": {why}')


def make_denial(name: str, status: Any) -> ApiError:
    """A webhook refused; it may say with which code, reason and details."""
    said = status if isinstance(status, dict) else {}
    message, reason = str(said.get("message") or ""), str(said.get("reason") or "")
    text = f'admission webhook "{name}" denied the request'
    text += f": {message or reason}" if message or reason else " without explanation"
    details = said.get("details")
    refusal = ApiError(text, details if isinstance(details, dict) else None)
    code = said.get("code")
    refusal.code = code if isinstance(code, int) and code >= 400 else 400
    refusal.reason = reason
    return refusal

"""Defaults of what extends the API: webhooks, admission policies, CustomResourceDefinitions and APIServices."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.objects import Object

GROUP = "admissionregistration.k8s.io"


@defaults(GROUP, "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
def default_webhooks(configuration: Object) -> None:
    """Called for all that match, for ten seconds; a failure rejects the request."""
    for webhook in each(configuration, "webhooks"):
        fill(webhook, failurePolicy="Fail", timeoutSeconds=10)
        if configuration.get("kind") == "MutatingWebhookConfiguration":
            fill(webhook, reinvocationPolicy="Never")
        _default_match(webhook)
        for rule in each(webhook, "rules"):
            fill(rule, scope="*")
        service = webhook.get("clientConfig", {}).get("service")
        if service is not None:
            fill(service, port=443)


@defaults(GROUP, "ValidatingAdmissionPolicy")
def default_policy(policy: Object) -> None:
    """A policy that cannot be evaluated rejects the request."""
    spec = part(policy, "spec")
    fill(spec, failurePolicy="Fail")
    if "matchConstraints" in spec:
        _default_match_resources(spec["matchConstraints"])


@defaults(GROUP, "ValidatingAdmissionPolicyBinding")
def default_policy_binding(binding: Object) -> None:
    """Matches as its policy does."""
    spec = part(binding, "spec")
    if "matchResources" in spec:
        _default_match_resources(spec["matchResources"])


def _default_match_resources(match: Object) -> None:
    _default_match(match)
    for rules in ("resourceRules", "excludeResourceRules"):
        for rule in each(match, rules):
            fill(rule, scope="*")


def _default_match(match: Object) -> None:
    fill(match, matchPolicy="Equivalent")
    part(match, "namespaceSelector")
    part(match, "objectSelector")


@defaults("apiextensions.k8s.io", "CustomResourceDefinition")
def default_definition(definition: Object) -> None:
    """Names follow from the kind; the version that is stored has been stored."""
    spec = part(definition, "spec")
    names = part(spec, "names")
    kind = names.get("kind", "")
    fill(names, singular=kind.lower(), listKind=f"{kind}List")
    fill(part(spec, "conversion"), strategy="None")
    service = spec["conversion"].get("webhook", {}).get("clientConfig", {}).get("service")
    if service is not None:
        fill(service, port=443)
    status = part(definition, "status")
    if not status.get("storedVersions"):
        stored = next(
            (version.get("name", "") for version in each(spec, "versions") if version.get("storage")), ""
        )
        if stored:
            status["storedVersions"] = [stored]


@defaults("apiregistration.k8s.io", "APIService")
def default_api_service(service: Object) -> None:
    """An extension server listens where HTTPS does."""
    reference = part(service, "spec").get("service")
    if reference is not None:
        fill(reference, port=443)

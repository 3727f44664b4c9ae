"""Webhook configurations and admission policies: the sentences of each rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create

HOOK, TOLD = "webhooks/0", "webhooks[0]"
FORM = "; desired format: https://host[/path]"


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({f"{HOOK}/name": "check"}, [
            f'{TOLD}.name: Invalid value: "check": should be a domain with at least three segments separated by dots'
        ]),
        ({f"{HOOK}/sideEffects": GONE}, [f"{TOLD}.sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
        ({f"{HOOK}/sideEffects": "Some"}, [
            f'{TOLD}.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'
        ]),
        ({f"{HOOK}/timeoutSeconds": 31}, [
            f"{TOLD}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"
        ]),
        ({f"{HOOK}/admissionReviewVersions": []}, [
            f"{TOLD}.admissionReviewVersions: Required value: must specify one of v1, v1beta1"
        ]),
        ({f"{HOOK}/admissionReviewVersions": ["v9"]}, [
            f'{TOLD}.admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1'
        ]),
        ({f"{HOOK}/clientConfig": {}}, [
            f"{TOLD}.clientConfig: Required value: exactly one of url or service is required"
        ]),
        ({f"{HOOK}/clientConfig": {"url": "http://u@h/p?q#f"}}, [
            f"{TOLD}.clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme{FORM}",
            f'{TOLD}.clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
            f'{TOLD}.clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
            f'{TOLD}.clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
        ]),
        ({f"{HOOK}/rules/0/operations": ["*", "CREATE"]}, [
            f"{TOLD}.rules[0].operations: Invalid value: [\"*\",\"CREATE\"]: "
            "if '*' is present, must not specify other operations"
        ]),
        ({f"{HOOK}/rules/0/resources": ["pods/*", "pods/status"]}, [
            f"{TOLD}.rules[0].resources[1]: Invalid value: \"pods/status\": "
            "if 'pods/*' is present, must not specify pods/status"
        ]),
        ({f"{HOOK}/matchConditions": [{"name": "a", "expression": " "}]}, [
            f"{TOLD}.matchConditions[0].expression: Required value"
        ]),
    ],
)  # fmt: skip
def test_a_broken_webhook(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told


@pytest.mark.parametrize(
    ("kind", "edits", "told"),
    [
        ("ValidatingAdmissionPolicy", {"spec/validations": []}, [
            "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
            "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
        ]),
        ("ValidatingAdmissionPolicy", {"spec/matchConstraints": GONE}, ["spec.matchConstraints: Required value"]),
        ("ValidatingAdmissionPolicy", {"spec/validations/0/message": "a\nb"}, [
            'spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks'
        ]),
        ("ValidatingAdmissionPolicy", {"spec/variables": [{"name": "in", "expression": "1"}]}, [
            'spec.variables[0].name: Invalid value: "in": name is not a valid CEL identifier'
        ]),
        ("ValidatingAdmissionPolicyBinding", {"spec/validationActions": []}, [
            "spec.validationActions: Required value: at least one validation action is required"
        ]),
        ("ValidatingAdmissionPolicyBinding", {"spec/paramRef": {"parameterNotFoundAction": "Deny"}}, [
            "spec.paramRef: Required value: one of name or selector must be specified"
        ]),
    ],
)  # fmt: skip
def test_a_broken_policy(kind: str, edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(EXAMPLES[kind], edits)) == told

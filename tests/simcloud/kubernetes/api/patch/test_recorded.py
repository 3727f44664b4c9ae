"""Patches of all types, compared with what genuine kubectl 1.36.4 made of them.

Recorded with ``kubectl patch --local``, which applies patches with the libraries of the API server.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.patch import apply_json_patch, merge_patch, strategic_merge
from simcloud.kubernetes.api.schema import schema_of

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "data" / "kubectl_local.jsonl").open()]
POD = schema_of("", "v1", "Pod")
assert POD


def _patched(case: dict[str, Any]) -> Any:
    if case["type"] == "strategic":
        return strategic_merge(case["object"], case["patch"], POD)
    return (apply_json_patch if case["type"] == "json" else merge_patch)(case["object"], case["patch"])


def _told(value: Any) -> Any:
    """A value without what is empty: kubectl's types leave that out when they are written."""
    if isinstance(value, dict):
        kept = {key: _told(item) for key, item in value.items() if item not in (None, {}, [])}
        return {key: item for key, item in kept.items() if key != "creationTimestamp"}
    return [_told(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_recorded(number: int) -> None:
    case = RECORDED[number]
    if "result" in case:
        assert _told(_patched(case)) == case["result"]
        return
    with pytest.raises(ApiError) as refused:
        _patched(case)
    if case["type"] != "json":  # the server does not tell what is wrong with a JSON patch; kubectl does
        assert refused.value.message.strip() == case["refused"].strip()

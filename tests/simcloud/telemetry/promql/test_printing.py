"""Queries written anew, beside how a genuine Prometheus shows them among its rules."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from simcloud.telemetry.promql import parse
from simcloud.telemetry.promql.nodes import type_of
from simcloud.telemetry.promql.printer import printed
from tests.simcloud.telemetry.promql.genuine import PATIENCE_S, Prometheus, prometheus
from tests.simcloud.telemetry.promql.test_genuine import QUERIES


@pytest.mark.differential("prometheus")
def test_a_query_is_shown_as_the_genuine_one_shows_it(tmp_path: Path) -> None:
    queries = [query for query in QUERIES if type_of(parse(query)) in ("vector", "scalar")]
    rules = [{"record": f"rule_{index}", "expr": query} for index, query in enumerate(queries)]
    with prometheus(
        tmp_path, yaml.safe_dump({"groups": [{"name": "g", "interval": "1h", "rules": rules}]})
    ) as genuine:
        shown = {rule["name"]: rule["query"] for rule in loaded(genuine)}
    assert len(shown) > 500
    ours = {f"rule_{index}": printed(parse(query)) for index, query in enumerate(queries)}
    assert {name: query for name, query in ours.items() if shown[name] != query} == {}


def loaded(genuine: Prometheus) -> list[dict[str, Any]]:
    """The rules, once they are read."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        groups = genuine.ask("rules", {})["data"]["groups"]
        if groups:
            rules: list[dict[str, Any]] = groups[0]["rules"]
            return rules
        time.sleep(0.05)
    raise AssertionError("no rules were read")


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_shown_means_the_same(query: str) -> None:
    once = printed(parse(query))
    assert printed(parse(once)) == once

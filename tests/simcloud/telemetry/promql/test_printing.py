"""Queries written anew, beside how a genuine Prometheus shows them among its rules."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from simcloud.telemetry.promql import parse
from simcloud.telemetry.promql.nodes import type_of
from simcloud.telemetry.promql.printer import format_query
from tests.simcloud.telemetry.promql.genuine import prometheus
from tests.simcloud.telemetry.promql.test_genuine import QUERIES


@pytest.mark.differential("prometheus")
def test_a_query_is_shown_as_the_genuine_one_shows_it(tmp_path: Path) -> None:
    queries = [query for query in QUERIES if type_of(parse(query)) in ("vector", "scalar")]
    rules = [{"record": f"rule_{index}", "expr": query} for index, query in enumerate(queries)]
    with prometheus(
        tmp_path, yaml.safe_dump({"groups": [{"name": "g", "interval": "1h", "rules": rules}]})
    ) as genuine:
        shown = {
            rule["name"]: rule["query"] for rule in genuine.ask_for_rules({})["data"]["groups"][0]["rules"]
        }
    assert len(shown) > 500
    ours = {f"rule_{index}": format_query(parse(query)) for index, query in enumerate(queries)}
    assert {name: query for name, query in ours.items() if shown[name] != query} == {}


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_shown_means_the_same(query: str) -> None:
    once = format_query(parse(query))
    assert format_query(parse(once)) == once

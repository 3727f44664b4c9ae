"""Alerts and their texts beside promtool's: what we found is written down as a test that it must pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from simcloud.golang.quoting import quote
from simcloud.telemetry.metrics import STALE, MetricStore
from simcloud.telemetry.prometheus_api import PrometheusApi
from simcloud.telemetry.promql import Engine
from simcloud.telemetry.promql.numbers import plain
from simcloud.telemetry.rules import RuleGroups, read_rules
from tests.genuine import Done, run
from tests.simcloud.telemetry.promql.genuine import HOME, prometheus

pytestmark = pytest.mark.differential("prometheus")

STEP_MS = 15_000
TEXTS = [
    "{{ $labels.instance }} of {{$labels.job}}: {{ $value }}",
    "{{ .Labels.instance }} {{ .Value }} {{ $labels.nothing }}.",
    "{{ $value | humanize }} {{ humanize1024 $value }} {{ $value | humanizeDuration }} {{ $value | humanizePercentage }}",
    '{{ printf "%.2f %v %s %8.3f %e %g %q" $value $value $labels.job $value $value $value $labels.job }}',
    '{{ if gt $value 100.0 }}high{{ else if eq $labels.job "api" }}api{{ else }}low{{ end }}',
    '{{ if and (gt $value 1.0) (ne $labels.job "db") }}both{{ end }}-{{ not true }}',
    '{{ $labels.instance | reReplaceAll "(.*):.*" "host $1" | toUpper }} {{ title "big day" }}',
    '{{ $labels.job | printf "%s-%d" $labels.instance }}',
    '{{ query "sum(load)" | first | value | humanize }} {{ query "count(load)" | first | value }}',
    "a {{- $labels.job -}} b",
    '{{ `raw` }} {{ "quo\\"ted" }} {{ len $labels.job }} {{ match "^a" $labels.job }}',
]
NUMBERS = [
    0.0,
    1.5,
    -3.25,
    1234.5678,
    1e6,
    123456789.0,
    0.00012,
    -0.5,
    90061.5,
    59.9,
    1e15,
    1e-7,
    3600.0,
    float("inf"),
]


def rules() -> str:
    alerts = [
        {"alert": f"Text{index}", "expr": "load > -1000", "annotations": {"text": text}}
        for index, text in enumerate(TEXTS)
    ]
    alerts += [
        {"alert": "Slow", "expr": "load > 100", "for": "1m", "labels": {"severity": "warning"}},
        {"alert": "Kept", "expr": "load > 100", "for": "30s", "keep_firing_for": "45s"},
        {"alert": "Gone", "expr": 'absent(load{job="api"})', "labels": {"level": "{{ $value }}"}},
        {"record": "job:load:sum", "expr": "sum by (job) (load)", "labels": {"source": "rule"}},
        {"alert": "Recorded", "expr": "job:load:sum > 1000", "for": "15s"},
    ]
    return yaml.safe_dump({"groups": [{"name": "g", "rules": alerts}]}, sort_keys=False)


def series() -> dict[str, tuple[dict[str, str], list[float]]]:
    return {
        'load{instance="h1:80",job="api"}': (
            {"instance": "h1:80", "job": "api"},
            [*NUMBERS, STALE, STALE, *NUMBERS],
        ),
        'load{instance="h2",job="db"}': (
            {"instance": "h2", "job": "db"},
            [50.0] * 3 + [150.0] * 9 + [20.0, 150.0] + [20.0] * 16,
        ),
    }


def expectations(change: str = "") -> dict[str, Any]:
    """What we find at every step, as a test of promtool's."""
    store = MetricStore()
    groups = RuleGroups(read_rules(rules()), Engine(store))
    fires: list[dict[str, Any]] = []
    asks: list[dict[str, Any]] = []
    names = sorted(
        {rule["alert"] for rule in yaml.safe_load(rules())["groups"][0]["rules"] if "alert" in rule}
    )
    for step in range(30):
        for labels, values in series().values():
            handle = store.series("load", tuple(labels.items()))
            if values[step] is STALE:
                store.end(handle, step * STEP_MS)
            else:
                store.append(handle, step * STEP_MS, values[step])
        groups.groups[0].evaluate(Engine(store), step * STEP_MS)
        for name in names:
            firing = [a for a in groups.alerts if a.state == "firing" and dict(a.labels)["alertname"] == name]
            expected = [
                {
                    "exp_labels": {key: value for key, value in alert.labels if key != "alertname"},
                    "exp_annotations": {key: value + change for key, value in alert.annotations.items()},
                }
                for alert in firing
            ]
            fires.append({"eval_time": f"{step * 15}s", "alertname": name, "exp_alerts": expected})
        for query in ("ALERTS", "ALERTS_FOR_STATE", "job:load:sum"):
            found = Engine(store).instant(query, step * STEP_MS).vector
            samples = [
                {
                    "labels": "{" + ",".join(f"{key}={quote(value)}" for key, value in labels) + "}",
                    "value": value,
                }
                for labels, value in found
            ]
            asks.append({"expr": query, "eval_time": f"{step * 15}s", "exp_samples": samples})
    inputs = [
        {"series": name, "values": " ".join("stale" if v is STALE else plain(v).lstrip("+") for v in values)}
        for name, (_, values) in series().items()
    ]
    return {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "15s",
        "tests": [
            {"interval": "15s", "input_series": inputs, "alert_rule_test": fires, "promql_expr_test": asks}
        ],
    }


def promtool(test: dict[str, Any]) -> Done:
    files = {"rules.yaml": rules().encode(), "test.yaml": yaml.safe_dump(test).encode()}
    return run(["promtool", "test", "rules", "test.yaml"], files=files)


def test_promtool_finds_the_same_alerts() -> None:
    done = promtool(expectations())
    assert done.status == 0, (done.stdout + done.stderr)[:4000]


@pytest.mark.live("prometheus")
def test_promtool_would_tell_a_difference() -> None:
    assert promtool(expectations(change="!")).status == 1


DEFAULT = Path(__file__).parents[4] / "src/simcloud/telemetry/data/rules.yaml"


@pytest.mark.parametrize("kind", ["", "alert", "record"])
def test_rules_that_were_not_yet_evaluated_are_told_alike(tmp_path: Path, kind: str) -> None:
    text = re.sub("interval: .*", "interval: 1000h", DEFAULT.read_text(encoding="utf-8"))
    with prometheus(tmp_path, text) as genuine:
        theirs = genuine.ask_for_rules({"type": [kind]})
    groups = RuleGroups(read_rules(text, f"{HOME}/rules.yml"), Engine(MetricStore()))
    ours = PrometheusApi(MetricStore(), lambda: 0, groups).answer("rules", {"type": [kind]})
    assert ours == theirs


def test_promtool_reads_the_default_rules() -> None:
    done = run(["promtool", "check", "rules", "rules.yaml"], files={"rules.yaml": DEFAULT.read_bytes()})
    assert done.status == 0, done.stdout + done.stderr

"""When alerts pend, fire and resolve."""

from __future__ import annotations

import pytest

from simcloud.sim.kernel import Kernel
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.promql import Engine
from simcloud.telemetry.rules import AlertingRule, BadRules, RuleGroups, default_rules, read_rules

RULES = """
groups:
  - name: services
    interval: 15s
    rules:
      - record: job:up:avg
        expr: avg by (job) (up)
        labels: {kept: "yes"}
      - alert: Down
        expr: up == 0
        for: 1m
        labels: {severity: page, job: "{{ $labels.job | toUpper }}"}
        annotations: {text: "{{ $labels.instance }} is {{ $value }}"}
      - alert: DownAtOnce
        expr: up == 0
        keep_firing_for: 30s
"""
EPOCH_S = 1_767_225_600.0


class Watch:
    """Rules over one target, evaluated every 15 seconds."""

    def __init__(self, text: str = RULES) -> None:
        self.store = MetricStore()
        self.engine = Engine(self.store)
        self.groups = RuleGroups(read_rules(text), self.engine)
        self.t_ms = 0

    def see(self, *values: float) -> None:
        """The target's next values."""
        for value in values:
            self.store.append(self.store.series("up", (("instance", "a"), ("job", "web"))), self.t_ms, value)
            for group in self.groups.groups:
                group.evaluate(self.engine, self.t_ms)
            self.t_ms += 15_000

    def states(self, name: str) -> list[str]:
        return [alert.state for alert in self.groups.alerts if dict(alert.labels)["alertname"] == name]

    def ask(self, query: str) -> dict[tuple[tuple[str, str], ...], float]:
        return dict(self.engine.instant(query, self.t_ms - 15_000).vector)


def test_an_alert_pends_then_fires_then_resolves() -> None:
    watch = Watch()
    watch.see(1, 1, 0)
    assert watch.states("Down") == ["pending"]
    watch.see(0, 0, 0)
    assert watch.states("Down") == ["pending"]
    watch.see(0)  # for a minute now
    assert watch.states("Down") == ["firing"]
    watch.see(1)
    assert watch.states("Down") == []


def test_a_short_lapse_starts_the_wait_anew() -> None:
    watch = Watch()
    watch.see(0, 0, 0, 1, 0, 0, 0, 0)
    assert watch.states("Down") == ["pending"]
    watch.see(0)
    assert watch.states("Down") == ["firing"]


def test_without_a_wait_it_fires_at_once_and_is_kept_as_long_as_it_says() -> None:
    watch = Watch()
    watch.see(0)
    assert watch.states("DownAtOnce") == ["firing"]
    watch.see(1, 1)
    assert watch.states("DownAtOnce") == ["firing"]
    assert watch.groups.alert_documents()[-1]["keepFiringSince"] == "1970-01-01T00:00:15Z"
    watch.see(1)
    assert watch.states("DownAtOnce") == []


def test_alerts_are_series() -> None:
    watch = Watch()
    watch.see(0)
    assert watch.ask('count by (alertname, alertstate) (ALERTS{alertname="Down"})') == {
        (("alertname", "Down"), ("alertstate", "pending")): 1.0
    }
    watch.see(0, 0, 0, 0)
    assert watch.ask('ALERTS{alertname="Down"}') == {
        (
            ("__name__", "ALERTS"),
            ("alertname", "Down"),
            ("alertstate", "firing"),
            ("instance", "a"),
            ("job", "WEB"),
            ("severity", "page"),
        ): 1.0
    }
    assert list(watch.ask('ALERTS_FOR_STATE{alertname="Down"}').values()) == [0.0]
    watch.see(1)
    assert watch.ask('ALERTS{alertname="Down"}') == {}  # ended by a marker, not five minutes later


def test_a_recorded_answer_is_a_series() -> None:
    watch = Watch()
    watch.see(1)
    assert watch.ask("job:up:avg") == {(("__name__", "job:up:avg"), ("job", "web"), ("kept", "yes")): 1.0}


def test_the_documents_tell_what_the_genuine_ones_tell() -> None:
    watch = Watch()
    watch.see(0)
    recording, down, _ = watch.groups.documents("")[0]["rules"]
    assert recording == {
        "name": "job:up:avg",
        "query": "avg by (job) (up)",
        "labels": {"kept": "yes"},
        "health": "ok",
        "evaluationTime": 0,
        "lastEvaluation": "1970-01-01T00:00:00Z",
        "type": "recording",
    }
    assert down["state"] == "pending"
    assert down["duration"] == 60
    assert down["alerts"] == [
        {
            "labels": {"alertname": "Down", "instance": "a", "job": "WEB", "severity": "page"},
            "annotations": {"text": "a is 0"},
            "state": "pending",
            "activeAt": "1970-01-01T00:00:00Z",
            "value": "0e+00",
        }
    ]
    assert [len(group["rules"]) for group in watch.groups.documents("alert")] == [2]


def test_a_rule_that_fails_says_so_and_leaves_the_others_alone() -> None:
    watch = Watch("""
groups:
  - name: g
    rules:
      - record: broken
        expr: label_replace(up, "bad name", "", "job", ".*")
      - record: fine
        expr: up
""")
    watch.see(1)
    broken, fine = watch.groups.documents("")[0]["rules"]
    assert (broken["health"], fine["health"]) == ("err", "ok")
    assert broken["lastError"] == "invalid destination label name in label_replace(): bad name"
    assert len(watch.ask("fine")) == 1


@pytest.mark.parametrize("use", ['match "(" "a"', 'reReplaceAll "(" "b" "a"'])
def test_a_bad_expression_in_a_template_is_told_in_the_text(use: str) -> None:
    watch = Watch(
        "groups: [{name: g, rules: [{alert: A, expr: up, annotations: {text: '{{ " + use + " }}'}}]}]"
    )
    watch.see(1)
    (alert,) = watch.groups.alerts
    assert "error parsing regexp: missing closing ): `(`" in alert.annotations["text"]


def test_a_group_has_a_limit() -> None:
    watch = Watch("groups: [{name: g, limit: 1, rules: [{record: two, expr: 'up or vector(1)'}]}]")
    watch.see(1)
    assert watch.groups.documents("")[0]["rules"][0]["lastError"] == "exceeded limit of 1 with 2 series"


def test_rules_are_evaluated_in_virtual_time() -> None:
    kernel = Kernel()
    watch = Watch()
    series = watch.store.series("up", (("instance", "a"), ("job", "web")))
    start_ms = round(EPOCH_S * 1000)
    watch.store.append(series, start_ms, 0.0)
    watch.groups.start(kernel, EPOCH_S)
    kernel.run_for(75.0)
    assert watch.states("Down") == ["firing"]
    found = watch.engine.range('ALERTS{alertname="Down"}', start_ms, start_ms + 75_000, 1000)
    times = {dict(labels)["alertstate"]: [t_ms for t_ms, _ in points] for labels, points in found.matrix}
    first_ms = watch.groups.groups[0].next_ms(start_ms)
    assert times["pending"][0] == -(-first_ms // 1000) * 1000
    assert times["firing"][0] == -(-(first_ms + 60_000) // 1000) * 1000
    assert watch.groups.groups[0].evaluated_ms == first_ms + 60_000


def test_the_default_rules_are_there() -> None:
    names = [rule.name for group in default_rules() for rule in group.rules if isinstance(rule, AlertingRule)]
    assert len(names) == len(set(names)) >= 20
    assert {"KubePodCrashLooping", "TargetDown", "HighErrorRate", "KubeNodeNotReady"} <= set(names)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]", 'group "g", rule 1, "A": could not parse expression: 1:6: parse error: unexpected end of input'),
        ("groups: [{name: g, rules: [{expr: up}]}]", "one of 'record' or 'alert' must be set"),
        ("groups: [{name: g, rules: [{record: a, alert: b, expr: up}]}]", "only one of 'record' and 'alert' must be set"),
        ("groups: [{name: g, rules: [{alert: A}]}]", "field 'expr' must be set in rule"),
        ("groups: [{name: g, rules: [{record: 'a b', expr: up}]}]", "invalid recording rule name: a b"),
        ("groups: [{name: g, rules: [{record: a, expr: up, for: 1m}]}]", "invalid field 'for' in recording rule"),
        ("groups: [{name: g}, {name: g}]", 'groupname: "g" is repeated in the same file'),
        ("groups: [{name: g, rulez: []}]", "field rulez not found in type rulefmt.RuleGroup"),
        ("groups: [{name: g, rules: [{alert: A, expr: up, for: 5x}]}]", 'not a valid duration string: "5x"'),
        ("groups: [{name: g, rules: [{alert: A, expr: up, labels: {a: '{{ nope }}'}}]}]", "function 'nope' not defined"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_are_told(text: str, words: str) -> None:
    with pytest.raises(BadRules) as caught:
        read_rules(text)
    assert words in str(caught.value)

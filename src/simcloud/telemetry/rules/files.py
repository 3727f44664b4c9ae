"""Rules from Prometheus' YAML form."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

import yaml

from simcloud.golang import quote
from simcloud.telemetry.promql import ParseError, parse
from simcloud.telemetry.promql.numbers import parse_duration_ms
from simcloud.telemetry.promql.relabel import LABEL_NAME
from simcloud.telemetry.rules.alerts import AlertingRule
from simcloud.telemetry.rules.groups import RuleGroup
from simcloud.telemetry.rules.recording import RecordingRule, Rule
from simcloud.telemetry.rules.templates import TemplateError, check

_GROUP_FIELDS: Final = {"name": str, "interval": str, "limit": int, "rules": list}
_RULE_FIELDS: Final = {
    "record": str,
    "alert": str,
    "expr": (str, int, float),
    "for": str,
    "keep_firing_for": str,
    "labels": dict,
    "annotations": dict,
}


class BadRules(ValueError):
    """An invalid file of rules; the message says where and why."""


DEFAULT_PATH: Final = "/etc/prometheus/rules.yaml"


def read_default_text() -> str:
    """Return the file of the rules that an on-call engineer would have for a cluster and its services."""
    return files("simcloud.telemetry").joinpath("data/rules.yaml").read_text(encoding="utf-8")


def default_rules() -> list[RuleGroup]:
    """Return the rules of the default file."""
    return read_rules(read_default_text(), DEFAULT_PATH)


def read_rules(text: str, file: str = "", interval_ms: int = 60_000) -> list[RuleGroup]:
    """Return the groups in a file; ``BadRules`` when something in it is wrong."""
    try:
        document = yaml.load(text, yaml.CSafeLoader) or {}
    except yaml.YAMLError as fault:
        raise BadRules(f"{file}: {fault}") from None
    _check_fields(document, {"groups": list}, "RuleGroups")
    groups: list[RuleGroup] = []
    for index, group in enumerate(document.get("groups") or []):
        _check_fields(group, _GROUP_FIELDS, "RuleGroup")
        name = group.get("name", "")
        if not name:
            raise BadRules(f"group {index + 1}: Groupname must not be empty")
        if any(known.name == name for known in groups):
            raise BadRules(f"groupname: {quote(name)} is repeated in the same file")
        rules = [_read_rule(rule, name, number) for number, rule in enumerate(group.get("rules") or [], 1)]
        groups.append(
            RuleGroup(
                name=name,
                rules=rules,
                interval_ms=_duration_ms(group, "interval", name) or interval_ms,
                limit=group.get("limit", 0),
                file=file,
            )
        )
    return groups


def _read_rule(rule: Any, group: str, number: int) -> Rule:
    _check_fields(rule, _RULE_FIELDS, "RuleNode")
    name = rule.get("record") or rule.get("alert") or ""
    where = f"group {quote(group)}, rule {number}, {quote(name)}"
    if "record" in rule and "alert" in rule:
        raise BadRules(f"{where}: only one of 'record' and 'alert' must be set")
    if not name:
        raise BadRules(f"{where}: one of 'record' or 'alert' must be set")
    query = str(rule.get("expr") or "")
    if not query:
        raise BadRules(f"{where}: field 'expr' must be set in rule")
    try:
        expression = parse(query)
    except ParseError as fault:
        raise BadRules(f"{where}: could not parse expression: {fault}") from None
    labels = tuple(sorted((str(key), str(value)) for key, value in (rule.get("labels") or {}).items()))
    annotations = tuple(
        sorted((str(key), str(value)) for key, value in (rule.get("annotations") or {}).items())
    )
    _check_names(where, labels, annotations)
    if "record" in rule:
        _check_recording(rule, where)
        return RecordingRule(name=name, expression=expression, labels=labels)
    for key, template in labels + annotations:
        try:
            check(template)
        except TemplateError as fault:
            raise BadRules(f"{where}: {key}: {fault}") from None
    return AlertingRule(
        name=name,
        expression=expression,
        labels=labels,
        annotations=annotations,
        for_ms=_duration_ms(rule, "for", where),
        keep_firing_for_ms=_duration_ms(rule, "keep_firing_for", where),
    )


def _check_recording(rule: dict[str, Any], where: str) -> None:
    for key, words in (
        ("annotations", "invalid field 'annotations' in recording rule"),
        ("for", "invalid field 'for' in recording rule"),
        ("keep_firing_for", "invalid field 'keep_firing_for' in recording rule"),
    ):
        if rule.get(key):
            raise BadRules(f"{where}: {words}")
    if not all(LABEL_NAME.fullmatch(part) for part in rule["record"].split(":") if part):
        raise BadRules(f"{where}: invalid recording rule name: {rule['record']}")


def _check_names(
    where: str, labels: tuple[tuple[str, str], ...], annotations: tuple[tuple[str, str], ...]
) -> None:
    for key, _ in labels:
        if not LABEL_NAME.fullmatch(key) or key == "__name__":
            raise BadRules(f"{where}: invalid label name: {key}")
    for key, _ in annotations:
        if not LABEL_NAME.fullmatch(key):
            raise BadRules(f"{where}: invalid annotation name: {key}")


def _check_fields(document: Any, known: dict[str, Any], what: str) -> None:
    if not isinstance(document, dict):
        raise BadRules(f"yaml: unmarshal errors:\n  cannot unmarshal into rulefmt.{what}")
    for key, value in document.items():
        if key not in known:
            raise BadRules(f"yaml: unmarshal errors:\n  field {key} not found in type rulefmt.{what}")
        if value is not None and not isinstance(value, known[key]):
            raise BadRules(f"yaml: unmarshal errors:\n  field {key}: cannot unmarshal {value!r}")


def _duration_ms(document: dict[str, Any], key: str, where: str) -> int:
    text = document.get(key)
    try:
        return parse_duration_ms(text) if text else 0
    except ValueError as fault:
        raise BadRules(f"{where}: {key}: {fault}") from None

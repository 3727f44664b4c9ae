"""Recording and alerting rules, in Prometheus' form, evaluated in virtual time."""

from simcloud.telemetry.rules.alerts import Alert, AlertingRule
from simcloud.telemetry.rules.files import BadRules, default_rules, read_rules
from simcloud.telemetry.rules.groups import RuleGroup, RuleGroups
from simcloud.telemetry.rules.recording import RecordingRule

__all__ = [
    "Alert",
    "AlertingRule",
    "BadRules",
    "RecordingRule",
    "RuleGroup",
    "RuleGroups",
    "default_rules",
    "read_rules",
]

"""Recording and alerting rules, in Prometheus' form, evaluated in virtual time."""

from aiopslab.observer.rules.alerting import Alert, AlertingRule
from aiopslab.observer.rules.groups import RuleGroup, RuleGroups
from aiopslab.observer.rules.reading import BadRules, default_rules, read_rules
from aiopslab.observer.rules.recording import RecordingRule

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

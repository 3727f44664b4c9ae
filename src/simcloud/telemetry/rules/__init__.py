"""Recording and alerting rules, in Prometheus' form, evaluated in virtual time."""

from simcloud.telemetry.rules.alerts import Alert as Alert, AlertingRule as AlertingRule
from simcloud.telemetry.rules.files import (
    BadRules as BadRules,
    default_rules as default_rules,
    read_rules as read_rules,
)
from simcloud.telemetry.rules.groups import RuleGroup as RuleGroup, RuleGroups as RuleGroups
from simcloud.telemetry.rules.recording import RecordingRule as RecordingRule

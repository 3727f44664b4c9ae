"""Recording and alerting rules, in Prometheus' form, evaluated in virtual time."""

from simcloud.telemetry.rules.alerts import Alert as Alert, AlertingRule as AlertingRule
from simcloud.telemetry.rules.files import (
    DEFAULT_PATH as DEFAULT_PATH,
    BadRules as BadRules,
    default_rules as default_rules,
    read_default_text as read_default_text,
    read_rules as read_rules,
)
from simcloud.telemetry.rules.groups import (
    RuleGroup as RuleGroup,
    RuleGroups as RuleGroups,
    Spawn as Spawn,
)
from simcloud.telemetry.rules.recording import RecordingRule as RecordingRule

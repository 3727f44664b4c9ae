"""When a transaction has made the system worse."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.evaluation.severity import Health
from aiopslab.orchestrator.transactions import TransactionOptions, explain_regression


def make_health(severity: float, *unhealthy: str, failed: float = 0.0) -> Health:
    return Health(severity, failed, 0.0, unhealthy)


def test_noise_and_improvements_are_no_regressions() -> None:
    assert not explain_regression(make_health(0.3), make_health(0.39))
    assert not explain_regression(
        make_health(0.3, "deployments/a"), make_health(0.35, "deployments/a", "pods/a-1")
    )
    assert not explain_regression(make_health(0.8, "deployments/a"), make_health(0.2, "deployments/b"))


def test_a_rise_and_a_newly_unhealthy_object_are_regressions() -> None:
    rise = explain_regression(make_health(0.3), make_health(0.5, failed=0.25))
    assert rise == "severity rose from 0.30 to 0.50, 25% of the users' requests failed, 0% before"
    assert "services/a became unhealthy" in explain_regression(
        make_health(0.3), make_health(0.28, "services/a")
    )


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="'inverse' or 'copy'"):
        TransactionOptions("magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        TransactionOptions(max_commands=0)

"""The application runs, and its users are content."""

from __future__ import annotations

from aiopslab.cli.templates.example_app import ExampleApp
from aiopslab.cloud import Environment


def test_users_are_served_within_the_objectives() -> None:
    """Deploy the application with users and record its baseline."""
    app = ExampleApp()
    environment = Environment(app)
    baseline = environment.settle()
    for objective in app.objectives:
        seen = environment.users.results.between(
            baseline.start, baseline.end - environment.timeout_s, objective.journey
        )
        assert seen.requests > 100
        assert 1 - seen.error_rate >= objective.success, seen
        assert seen.p99_s <= objective.p99_s, seen

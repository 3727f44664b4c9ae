"""Users notice the fault, and all is well after the recovery."""

from __future__ import annotations

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cli.templates.example_fault import ExampleFault
from aiopslab.cloud import Environment


def test_users_notice_the_fault_until_the_recovery() -> None:
    """Inject the fault into a running application, and recover it twice."""
    fault = ExampleFault("frontend")
    environment = Environment(HotelReservation())
    environment.open()
    assert not fault.present(environment)

    fault.inject(environment)
    assert fault.present(environment)
    assert measure_error_rate(environment) > 0.5

    fault.recover(environment)
    fault.recover(environment)
    assert not fault.present(environment)
    assert measure_error_rate(environment) == 0.0


def measure_error_rate(environment: Environment) -> float:
    """Let changes take effect for 15 s; return the share of requests that fail in the next 15 s."""
    environment.run_for(15.0)
    began_s = environment.now
    environment.run_for(15.0 + environment.timeout_s)
    return environment.users.results.between(began_s, began_s + 15.0).error_rate

from __future__ import annotations

from aiopslab.generators.workload.outcomes import Outcome, Results


def test_the_oldest_are_forgotten_and_late_answers_to_them_are_no_harm() -> None:
    results = Results(keep=10)
    shop = results.register_journey("shop")
    rows = [results.begin(float(n), shop) for n in range(25)]
    assert len(results) <= 10
    for row in rows:
        results.finish(row, 0.5, 200, None)
    last = list(results.outcomes())[-1]
    assert last == Outcome(24.0, "shop", 0.5, 200, None)
    assert results.between(0.0, 100.0).unfinished == 0


def test_a_span_of_time_is_summed_up() -> None:
    results = Results()
    shop, pay = results.register_journey("shop"), results.register_journey("pay")
    for n in range(100):
        row = results.begin(float(n), pay if n % 10 == 0 else shop)
        if n == 99:
            break
        results.finish(row, n / 1000, 500 if n % 10 == 0 else 200, "HTTP 500" if n % 10 == 0 else None)
    whole = results.between(0.0, 100.0)
    assert (whole.requests, whole.errors, whole.unfinished) == (100, 10, 1)
    assert whole.kinds == {"HTTP 500": 10}
    assert results.between(0.0, 100.0, "shop").errors == 0
    assert results.between(10.0, 20.0).requests == 10
    assert results.between(200.0, 300.0).error_rate == 0.0

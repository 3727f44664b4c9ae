from __future__ import annotations

from simcloud.machine.emit import Labels, Metrics
from simcloud.telemetry.collectors.exposition import Programs
from simcloud.telemetry.metrics import MetricStore, Retention
from simcloud.telemetry.promql import Engine
from simcloud.telemetry.scrape import Reading, Readings, Scraper, Target
from simcloud.telemetry.sink import Telemetry

POD: Labels = (("namespace", "shop"), ("pod", "cart-1"))


class Scraped:
    """Targets that are scraped on request."""

    def __init__(self, *targets: Target, series: int = 1000) -> None:
        self.targets = list(targets)
        self.store = MetricStore(Retention(series=series))
        self.scraper = Scraper(self.store, lambda: self.targets)
        self.t_ms = 0

    def scrape(self) -> None:
        self.t_ms += 15_000
        self.scraper.scrape(self.t_ms)

    def ask(self, query: str) -> list[float]:
        return [sample.value for sample in Engine(self.store).instant(query, self.t_ms).vector]


def target(readings: Readings | None, job: str = "job") -> Target:
    return Target(job, "here", lambda: readings)


def test_values_that_change_are_stored_under_the_same_series() -> None:
    reading = Reading("depth", ())
    scraped = Scraped(target([reading]))
    for value in (1.0, 2.0, 4.0):
        reading.value = value
        scraped.scrape()
    assert scraped.ask("depth") == [4.0]
    assert scraped.ask("sum_over_time(depth[1m])") == [7.0]
    assert scraped.ask("scrape_samples_scraped") == [1.0]


def test_what_is_told_no_more_ends_at_once_and_may_come_again() -> None:
    first, second = Reading("a", (), 1.0), Reading("b", (), 2.0)
    current_readings = [first, second]
    scraped = Scraped(target(current_readings))
    scraped.scrape()
    current_readings.remove(second)
    scraped.scrape()
    assert (scraped.ask("a"), scraped.ask("b")) == ([1.0], [])
    current_readings.append(second)
    scraped.scrape()
    assert scraped.ask("b") == [2.0]


def test_a_target_that_does_not_answer_is_down_and_its_series_end() -> None:
    answers: list[Readings | None] = [[Reading("a", (), 1.0)], None, [Reading("a", (), 3.0)]]
    scraped = Scraped(Target("job", "here", lambda: answers.pop(0)))
    seen = []
    for _ in range(3):
        scraped.scrape()
        seen.append((scraped.ask("up"), scraped.ask("a")))
    assert seen == [([1.0], [1.0]), ([0.0], []), ([1.0], [3.0])]


def test_what_is_told_twice_counts_once() -> None:
    scraped = Scraped(target([Reading("a", (), 1.0), Reading("a", (), 2.0)]))
    scraped.scrape()
    scraped.scrape()
    assert scraped.ask("a") == [1.0]


def test_series_that_were_swept_out_come_back() -> None:
    reading = Reading("a", (), 1.0)
    scraped = Scraped(target([reading]))
    scraped.scrape()
    scraped.t_ms += scraped.store.retention.age_ms + 1
    scraped.store.sweep(scraped.t_ms)
    assert len(scraped.store) == 0
    scraped.scrape()
    assert scraped.ask("a") == [1.0]


def test_a_time_far_from_the_first_moves_the_base() -> None:
    reading = Reading("a", (), 1.0)
    scraped = Scraped(target([reading]))
    scraped.scrape()
    scraped.t_ms += 2**32
    scraped.scrape()
    assert scraped.ask("a") == [1.0]


def test_a_target_that_tells_too_much_is_down_and_harms_nobody_else() -> None:
    flood = target([Reading("flood", (("n", str(number)),)) for number in range(50)], "flood")
    scraped = Scraped(target([Reading("a", (), 1.0)]), flood, series=20)
    for _ in range(2):
        scraped.scrape()
    assert scraped.ask("a") == [1.0]
    assert scraped.ask("flood") == []
    assert [one["health"] for one in scraped.scraper.document()["activeTargets"]] == ["up", "down"]


def test_a_program_that_begins_anew_begins_at_zero() -> None:
    telemetry = Telemetry(0.0)
    scraped = Scraped()
    scraped.scraper = Scraper(scraped.store, Programs(telemetry).targets)
    old, new = Metrics(POD, "10.0.0.1"), Metrics(POD, "10.0.0.1")
    telemetry.expose(old)
    for metrics, count in ((old, 5.0), (old, 9.0), (new, 2.0), (new, 3.0)):
        if metrics is new and old in telemetry.exposed:
            telemetry.withdraw(old)
            telemetry.expose(new)
        metrics.counter("calls_total").value = count
        scraped.scrape()
    assert scraped.ask("resets(calls_total[1m])") == [1.0]
    telemetry.withdraw(new)
    scraped.scrape()
    assert scraped.ask("calls_total") == scraped.ask("up") == []


def test_a_cluster_reads_its_pods_and_machines_and_nobody_elses() -> None:
    telemetry = Telemetry(0.0)
    for labels, address in ((POD, "10.0.0.1"), ((), "172.18.0.2"), ((), "203.0.113.11")):
        metrics = Metrics(labels, address)
        metrics.counter("calls_total").add()
        telemetry.expose(metrics)
    found = Programs(telemetry, ["172.18.0.2"]).targets()
    assert [(one.job, one.instance) for one in found] == [
        ("kubernetes-pods", "10.0.0.1"),
        ("services", "172.18.0.2"),
    ]

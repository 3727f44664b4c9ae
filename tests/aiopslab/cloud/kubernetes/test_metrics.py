"""What is read of a kubelet's page of metrics."""

from __future__ import annotations

from aiopslab.cloud.kubernetes.metrics import parse_page

PAGE = b"""\
# HELP container_cpu_usage_seconds_total Cumulative cpu time consumed in seconds.
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="geo",cpu="total",image="a:\\"b\\"",namespace="shop",pod="geo-1"} 12.5 1763391000123
container_cpu_usage_seconds_total{container="other",cpu="total",namespace="elsewhere",pod="x"} 1
container_cpu_usage_seconds_total{id="/"} 99
container_memory_working_set_bytes{container="geo",namespace="shop",pod="geo-1"} 1.048576e+06
machine_cpu_cores{node="a"} 4
"""


def test_samples_of_containers_in_the_wanted_namespaces_are_read() -> None:
    found = list(parse_page(PAGE, frozenset({"shop"})))
    assert [(name, value) for name, _, value in found] == [
        ("container_cpu_usage_seconds_total", 12.5),
        ("container_memory_working_set_bytes", 1048576.0),
    ]

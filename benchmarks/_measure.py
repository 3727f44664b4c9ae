"""Measurements that several benchmarks share: CPU time, memory, and processes of their own."""

from __future__ import annotations

import multiprocessing
import resource
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Stopwatch:
    """CPU time of this process, and wall time, since the stopwatch was created."""

    def __init__(self) -> None:
        self._cpu_s, self._wall_s = time.process_time(), time.perf_counter()

    @property
    def cpu_s(self) -> float:
        return time.process_time() - self._cpu_s

    @property
    def wall_s(self) -> float:
        return time.perf_counter() - self._wall_s


class Usage(NamedTuple):
    """What a process has used since it was started or forked, and when this was read."""

    cpu_s: float
    page_faults: int
    at_s: float


def read_usage(_world: object = None) -> Usage:
    """Return what this process has used so far."""
    page_faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return Usage(time.process_time(), page_faults, time.perf_counter())


def measure_calls_per_s(call: Callable[[], object], least_s: float) -> float:
    """Call a function for at least this much CPU time, three times or more; return its calls per CPU second."""
    count, watch = 0, Stopwatch()
    while (spent_s := watch.cpu_s) < least_s or count < 3:
        call()
        count += 1
    return count / spent_s


def resident_bytes() -> int:
    """Return the memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak_memory_mb() -> float:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read_tree_mb() -> float:
    """Return the memory of this process and of all that it has started, shared pages counted in part, in MB."""
    total_kb, pending = 0, ["self"]
    while pending:
        folder = Path("/proc", pending.pop())
        try:
            lines = (folder / "smaps_rollup").read_text().splitlines()
            children = [(task / "children").read_text().split() for task in (folder / "task").iterdir()]
        except OSError:  # it has just ended
            continue
        total_kb += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        pending += [child for found in children for child in found]
    return total_kb / 1024


def traced_bytes(fill: Callable[[], object]) -> int:
    """Return the memory that the result of a function keeps allocated."""
    tracemalloc.start()
    filled = fill()
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del filled
    return allocated


def call_in_own_process(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function in a process forked from this one, so that no other measurement affects its memory."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        return pool.submit(function, *args, **kwargs).result()

"""``aiopslab validate``: check that problems are fair, on copies of their worlds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import DONE, FAILED
from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.validation import validate_many, validate_on_cluster

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions


def validate_problems(
    problems: ProblemRegistry,
    wanted: Sequence[str],
    seed: int,
    *,
    twice: bool,
    jobs: int,
    log: Path | None,
    as_json: bool,
    cluster: KubernetesOptions | None = None,
) -> int:
    """Validate the wanted problems, on a real cluster if one is given; return 1 if one is unfair, else 0.

    The findings of each problem are appended to ``log`` at once, and problems that it already holds are left out.
    """
    found = dict(_read_log(log, seed)) if log is not None else {}
    found = {pid: findings for pid, findings in found.items() if pid in wanted}
    rest = [pid for pid in wanted if pid not in found]
    out = open_console()
    with Progress() as progress:
        if cluster is None:
            checked = validate_many(problems, rest, seed, twice=twice, jobs=jobs, tell=progress)
        else:
            checked = validate_on_cluster(problems, rest, cluster, seed, progress)
        for pid, findings in checked:
            found[pid] = findings
            if log is not None:
                _append(log, seed, pid, findings)
            if not as_json:
                progress.clear()
                _show(out, pid, findings)
            progress(f"{len(found)} of {len(wanted)} are validated")
    unfair = [pid for pid, findings in found.items() if not all(finding.well for finding in findings)]
    if as_json:
        document = {pid: [vars(finding) for finding in findings] for pid, findings in found.items()}
        print(json.dumps(document, indent=1))
    else:
        out.print(f"\n{len(found) - len(unfair)} of {len(found)} problems are fair.", markup=False)
    return FAILED if unfair else DONE


def _read_log(log: Path, seed: int) -> Iterator[tuple[str, list[Finding]]]:
    for line in log.read_text("utf-8").splitlines() if log.exists() else ():
        entry = json.loads(line)
        if entry["seed"] == seed:
            yield entry["problem"], [Finding(**finding) for finding in entry["findings"]]


def _append(log: Path, seed: int, pid: str, findings: Sequence[Finding]) -> None:
    entry = {"problem": pid, "seed": seed, "findings": [vars(finding) for finding in findings]}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _show(out: Console, pid: str, findings: Sequence[Finding]) -> None:
    fair = all(finding.well for finding in findings)
    out.print(
        f"\n{pid}: {'fair' if fair else 'NOT fair'}", style="bold green" if fair else "bold red", markup=False
    )
    for finding in findings:
        out.print(f"  {finding}", style=None if finding.well else "red", markup=False)

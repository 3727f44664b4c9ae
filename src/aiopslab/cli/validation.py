"""``aiopslab validate``: check that problems are fair, on copies of their worlds."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console

from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import DONE, FAILED
from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.validation import Validator


def validate_problems(
    problems: ProblemRegistry, wanted: Sequence[str], seed: int, twice: bool, as_json: bool
) -> int:
    """Validate the wanted problems, or all of them; return 1 if one is unfair, else 0."""
    ids = list(wanted) or problems.get_problem_ids()
    # Problems that share a world are validated one after the other, so that each world is prepared once.
    ids.sort(key=lambda pid: (problems.get_problem(pid).app.name, repr(problems.get_problem(pid).faults)))
    out = open_console()
    found: dict[str, list[Finding]] = {}
    with Progress() as progress, Validator(seed, problems=problems, tell=progress, twice=twice) as validator:
        for number, pid in enumerate(ids, start=1):
            progress(f"{number} of {len(ids)}: {pid}")
            found[pid] = validator.validate(pid)
            if not as_json:
                progress.clear()
                _show(out, pid, found[pid])
    unfair = [pid for pid, findings in found.items() if not all(finding.well for finding in findings)]
    if as_json:
        document = {pid: [vars(finding) for finding in findings] for pid, findings in found.items()}
        print(json.dumps(document, indent=1))
    else:
        out.print(f"\n{len(ids) - len(unfair)} of {len(ids)} problems are fair.", markup=False)
    return FAILED if unfair else DONE


def _show(out: Console, pid: str, findings: Sequence[Finding]) -> None:
    fair = all(finding.well for finding in findings)
    out.print(
        f"\n{pid}: {'fair' if fair else 'NOT fair'}", style="bold green" if fair else "bold red", markup=False
    )
    for finding in findings:
        out.print(f"  {finding}", style=None if finding.well else "red", markup=False)

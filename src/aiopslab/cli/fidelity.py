"""``aiopslab fidelity``: pose the same problems on the embedded cloud and on a real cluster, and compare what is seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import DONE
from aiopslab.orchestrator import Comparison, compare_problem, compute_agreement
from aiopslab.orchestrator.problems import ProblemRegistry

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

SHOWN: Final = 5


def show_fidelity(
    problems: ProblemRegistry, wanted: Sequence[str], cluster: KubernetesOptions, seed: int, as_json: bool
) -> int:
    """Compare each problem and print what agrees and what does not; return the exit code."""
    out = open_console()
    found: list[Comparison] = []
    document: dict[str, Any] = {"problems": {}}
    for pid in wanted:
        with Progress() as progress:
            compared, times_s = compare_problem(problems, pid, cluster, seed, progress)
        found += compared
        document["problems"][pid] = {"aspects": [asdict(each) for each in compared], "seconds": times_s}
        if not as_json:
            out.print(f"\n{pid}: {compute_agreement(compared):.0%}", style="bold", markup=False)
            for each in compared:
                out.print(f"  {each.agreement:4.0%}  {each.aspect}", markup=False)
                for cloud, names in (("embedded", each.embedded_only), ("cluster", each.cluster_only)):
                    for name in names[:SHOWN]:
                        out.print(f"        only {cloud}: {name}", markup=False)
            for part, (here_s, there_s) in times_s.items():
                out.print(f"  {part}: {here_s:.0f} s embedded, {there_s:.0f} s on the cluster", markup=False)
    document["agreement"] = compute_agreement(found)
    if as_json:
        print(json.dumps(document, indent=1))
    else:
        out.print(f"\nBoth clouds agree in {document['agreement']:.0%}.", markup=False)
    return DONE

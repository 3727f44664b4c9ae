"""``aiopslab report``, ``compare`` and ``verify``: what a stored benchmark says, and whether it is true."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aiopslab.benchmark import (
    FORMATS,
    Source,
    Store,
    Table,
    Verifier,
    build_page,
    build_settings_table,
    build_tables,
    compare_agents,
    group_by_agent,
    read_sources,
)
from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import DONE, FAILED, UsageError, load_problems
from aiopslab.cli.session_view import sanitize
from aiopslab.orchestrator import shield_harness

HTML: Final = "html"


def print_report(places: Sequence[str | Path], format: str, out: Path | None) -> int:
    """Write the report of stored benchmarks to a file or to standard output; raises ``StoreError`` and ``UsageError``."""
    check_format(format)
    sources = read_sources(places)
    if not any(source.episodes for source in sources):
        raise UsageError(
            f"{places[0]} has no finished episodes yet. Run some: aiopslab bench --resume --out {places[0]}"
        )
    if format == HTML:
        if out is None:
            sys.stdout.write(_build_html(sources, Path("report.html")))
        else:
            write_page(sources, out)
    else:
        text = FORMATS[format](_build_all_tables(sources))
        if out is None:
            sys.stdout.write(sanitize_lines(text))
        else:
            _write(out, text)
    if out is not None:
        print(out)
    return DONE


def sanitize_lines(text: str) -> str:
    """Redact secrets and replace control characters, except line ends."""
    return "\n".join(map(sanitize, text.split("\n")))


def check_format(format: str) -> None:
    """Raise ``UsageError`` if there is no such format."""
    if format != HTML and format not in FORMATS:
        raise UsageError(f"There is no format '{format}'. Choose one of: {', '.join((*FORMATS, HTML))}.")


def _build_all_tables(sources: Sequence[Source]) -> list[Table]:
    episodes = [episode for source in sources for episode in source.episodes]
    return [*build_tables(episodes), build_settings_table(sources)]


def _build_html(sources: Sequence[Source], place: Path) -> str:
    return build_page(sources, _build_all_tables(sources), place.absolute())


def write_page(sources: Sequence[Source], place: Path) -> None:
    """Write the report as an HTML page; raises ``UsageError``."""
    _write(place, _build_html(sources, place))


def _write(place: Path, text: str) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{place} cannot be written ({error.strerror}). Choose another --out.") from None


def print_comparison(places: Sequence[str | Path], first: str, second: str, format: str) -> int:
    """Print the episodes that only one of two agents solved; raises ``StoreError`` and ``UsageError``."""
    if format not in FORMATS:
        raise UsageError(f"There is no format '{format}' here. Choose one of: {', '.join(FORMATS)}.")
    episodes = [episode for source in read_sources(places) for episode in source.episodes]
    known = list(group_by_agent(episodes))
    for name in (first, second):
        if name not in known:
            raise UsageError(
                f"There are no episodes of '{name}'. Choose two of: {', '.join(known) or 'none'}."
            )
    sys.stdout.write(sanitize_lines(FORMATS[format](compare_agents(episodes, first, second))))
    return DONE


def verify_benchmark(folder: Path, jobs: int | None, load: Sequence[Path], as_json: bool) -> int:
    """Replay a stored benchmark; return 1 if a verdict differs. Raises ``StoreError``."""
    registry = load_problems(load)
    with Store.open(folder) as store:
        episodes, place = store.list_episodes(), store.folder.absolute()
        if store.run.settings.get("cloud") == "kubernetes":
            raise UsageError(
                "Episodes on a real cluster cannot be replayed. Look at them with aiopslab report and aiopslab show."
            )
    for pid in dict.fromkeys(episode.problem for episode in episodes):
        registry.get_problem_instance(pid)
    shield_harness()
    checks = []
    out = open_console()
    with Progress() as progress:
        for check in Verifier(place, episodes, registry, workers=jobs or os.cpu_count() or 1).run():
            checks.append(check)
            if check.difference and not as_json:
                progress.clear()
                words = " ".join(map(str, check.key))
                out.print(sanitize(f"{words}: {check.difference}"), markup=False)
            progress(f"{len(checks)} of {len(episodes)} are replayed")
    different = [check for check in checks if check.difference]
    skipped = sum(check.is_skipped for check in checks)
    same = len(checks) - len(different) - skipped
    if as_json:
        document = {
            "same": same,
            "without_verdict": skipped,
            "different": [{**check.key._asdict(), "difference": check.difference} for check in different],
        }
        print(json.dumps(document, indent=1))
    else:
        out.print(
            f"{same} of {len(checks)} verdicts are the same, {len(different)} differ, {skipped} sessions have none.",
            markup=False,
        )
    return FAILED if different else DONE

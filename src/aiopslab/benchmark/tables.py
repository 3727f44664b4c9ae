"""The tables of a report, computed from stored episodes.

A table is plain data; ``formats`` and ``page`` render it. Accuracy is the share of solved problems among all episodes that count: an
agent that crashed, timed out or never answered has not solved its problem, while failures of the harness are left out and listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, Final

from aiopslab.benchmark.episodes import Episode
from aiopslab.benchmark.statistics import (
    Difference,
    Interval,
    adjust_by_holm,
    compare_paired,
    compute_balanced_accuracy,
    compute_wilson_interval,
    estimate_pass_at_k,
    estimate_pass_hat_k,
)
from aiopslab.benchmark.variations import split_agent

STEP_LIMITS: Final = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100)
MAX_PROGRAMS: Final = 20
NO_ACTION: Final = "(no action)"
_TIMES: Final = {"detection": "TTD", "localization": "TTL", "analysis": "TTA", "prediction": "TTP"}
_CORRECT: Final = {
    "localization": {"acc@1": "accuracy@1", "acc@3": "accuracy@3"},
    "analysis": {"system level": "system_level_correct", "fault type": "fault_type_correct"},
    "mitigation": {"repaired": "repaired"},
    "incident": {
        "repaired": "repaired",
        "components": "components_correct",
        "diagnosis": "diagnosis_correct",
    },
}
"""Further verdicts of tasks, by the heading of their column."""


@dataclass(frozen=True)
class Share:
    """A share of episodes, with its interval."""

    count: int
    total: int

    @property
    def value(self) -> float | None:
        return self.count / self.total if self.total else None

    @property
    def interval(self) -> Interval:
        return compute_wilson_interval(self.count, self.total)


@dataclass(frozen=True)
class Amount:
    """A number with its unit, and an interval if there is one."""

    value: float | None
    unit: str = ""
    digits: int = 1
    interval: Interval | None = None


Cell = str | int | Share | Amount


@dataclass(frozen=True)
class Table:
    """A table of a report. Its first ``labels`` columns name what a row is about."""

    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    labels: int = 1


def build_tables(episodes: Sequence[Episode]) -> list[Table]:
    """Return all tables for which there is something to show. Varied episodes are in a table of their own only."""
    varied = _build_variations([episode for episode in episodes if episode.is_counted])
    episodes = [episode for episode in episodes if not split_agent(episode.agent)[1]]
    counted = [episode for episode in episodes if episode.is_counted]
    tables = [
        build_overall(episodes),
        _build_split("tasks", "Accuracy by task", counted, lambda episode: episode.facts.task),
        *(_build_task(task, counted) for task in sorted({episode.facts.task for episode in counted})),
        _build_step_limits(counted),
        _build_split("layers", "Accuracy by fault layer", counted, lambda episode: episode.facts.layer),
        _build_split(
            "difficulty", "Accuracy by difficulty", counted, lambda episode: episode.facts.difficulty
        ),
        _build_split("apps", "Accuracy by application", counted, lambda episode: episode.facts.app),
        _build_false_alarms(counted),
        _build_harm(counted),
        _build_actions(counted),
        _build_programs(counted),
        _build_repeats(counted),
        _build_comparisons(counted),
        varied,
        _build_problems(counted),
        _build_failures(episodes),
    ]
    return [table for table in tables if table.rows]


def group_by_agent(episodes: Iterable[Episode]) -> dict[str, list[Episode]]:
    """Return episodes by agent, the agents by name."""
    groups: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        groups[episode.agent].append(episode)
    return dict(sorted(groups.items()))


def count_solved(episodes: Sequence[Episode]) -> Share:
    """Return the share of solved problems."""
    return Share(sum(episode.is_solved for episode in episodes), len(episodes))


def build_overall(episodes: Sequence[Episode]) -> Table:
    """Return one row per agent, the most accurate first."""
    rows: list[list[Cell]] = []
    for agent, own in group_by_agent(episodes).items():
        counted = [episode for episode in own if episode.is_counted]
        costs = [episode.cost_usd for episode in own if episode.cost_usd is not None]
        rows.append(
            [
                agent,
                ", ".join(sorted({episode.model for episode in own if episode.model})) or "–",
                len({episode.problem for episode in own}),
                len(own),
                count_solved(counted),
                Amount(_balance(counted), "%", 0),
                sum(episode.success is None for episode in own),
                Amount(_average(counted, lambda episode: episode.steps)),
                Amount(_average(counted, lambda episode: episode.simulated_s), "s", 0),
                Amount(_average(counted, lambda episode: episode.wall_s), "s"),
                Amount(_average(counted, lambda episode: episode.in_tokens), "", 0),
                Amount(_average(counted, lambda episode: episode.out_tokens), "", 0),
                Amount(sum(costs) if costs else None, "$", 2),
            ]
        )
    rows.sort(key=lambda row: (-_get_value(row[4]), str(row[0])))
    header = (
        "agent", "model", "problems", "episodes", "accuracy", "balanced", "errors", "steps", "simulated", "real", "tokens in",
        "tokens out", "cost",
    )  # fmt: skip
    note = (
        "Accuracy is the share of solved problems with its 95% interval (Wilson). Balanced: mean of the shares of faulty and "
        "healthy systems that detection judged rightly. Errors: episodes without a verdict. Steps, times and tokens are means per "
        "episode, and tokens estimates where an agent reports none; the cost is the sum of what agents report."
    )
    return Table("overall", "Overall", header, rows, note, labels=2)


def _get_value(cell: Cell) -> float:
    return (cell.value or 0.0) if isinstance(cell, Share | Amount) else 0.0


def _average(episodes: Sequence[Episode], get: Callable[[Episode], float | None]) -> float | None:
    values = [value for value in map(get, episodes) if value is not None]
    return fmean(values) if values else None


def _balance(episodes: Sequence[Episode]) -> float | None:
    detections = [episode for episode in episodes if episode.facts.task == "detection"]
    healthy = [episode.is_solved for episode in detections if episode.is_healthy]
    faulty = [episode.is_solved for episode in detections if not episode.is_healthy]
    return compute_balanced_accuracy(sum(faulty), len(faulty), sum(healthy), len(healthy))


def _build_split(
    name: str, title: str, episodes: Sequence[Episode], get_group: Callable[[Episode], str]
) -> Table:
    """Return accuracy by agent and group."""
    groups = sorted({get_group(episode) for episode in episodes})
    rows: list[list[Cell]] = [
        [
            agent,
            *(count_solved([episode for episode in own if get_group(episode) == group]) for group in groups),
        ]
        for agent, own in group_by_agent(episodes).items()
    ]
    return Table(name, title, ("agent", *groups), rows if len(groups) > 1 else [])


def _build_task(task: str, episodes: Sequence[Episode]) -> Table:
    """Return the table of one task, with its own verdicts, as in the papers."""
    verdicts = _CORRECT.get(task, {})
    rows: list[list[Cell]] = []
    for agent, every in group_by_agent(episodes).items():
        own = [episode for episode in every if episode.facts.task == task]
        if not own:
            continue
        row: list[Cell] = [agent, count_solved(own)]
        row += [
            Share(sum(_is_right(episode.results.get(key)) for episode in own), len(own))
            for key in verdicts.values()
        ]
        if task == "detection":
            row += [
                count_solved([episode for episode in own if episode.is_healthy is healthy])
                for healthy in (False, True)
            ]
            row.append(Amount(_balance(own), "%", 0))
        row += [
            Amount(_average(own, lambda episode: episode.results.get(_TIMES.get(task, "TTM"))), "s", 0),
            Amount(_average(own, lambda episode: episode.steps)),
            Amount(_average(own, lambda episode: episode.in_tokens), "", 0),
            Amount(_average(own, lambda episode: episode.out_tokens), "", 0),
        ]
        rows.append(row)
    extra = ("faulty found", "healthy left alone", "balanced") if task == "detection" else tuple(verdicts)
    header = ("agent", "accuracy", *extra, "simulated", "steps", "tokens in", "tokens out")
    return Table(f"task-{task}", f"Task: {task}", header, rows)


def _is_right(value: Any) -> bool:
    """Whether a verdict is positive: true, or a full score of 100."""
    return value is True or value == 100


def _build_step_limits(episodes: Sequence[Episode]) -> Table:
    """Return what accuracy would be if sessions ended after fewer steps."""
    longest = max((episode.steps for episode in episodes), default=0)
    limits = [limit for limit in STEP_LIMITS if limit < longest] + [longest]
    rows: list[list[Cell]] = [
        [agent, *(count_solved_within(own, limit) for limit in limits)]
        for agent, own in group_by_agent(episodes).items()
    ]
    note = "A problem counts as solved within a limit if it was solved in that number of steps or fewer."
    return Table("steps", "Accuracy by step limit", ("agent", *(str(limit) for limit in limits)), rows, note)


def count_solved_within(episodes: Sequence[Episode], limit: int) -> Share:
    """Return the share of problems that were solved in a number of steps or fewer."""
    return Share(sum(episode.is_solved and episode.steps <= limit for episode in episodes), len(episodes))


def _build_false_alarms(episodes: Sequence[Episode]) -> Table:
    rows: list[list[Cell]] = []
    for agent, own in group_by_agent(episodes).items():
        healthy = [episode for episode in own if episode.facts.task == "detection" and episode.is_healthy]
        if healthy:
            alarms = [
                episode for episode in healthy if episode.success is False and episode.ending == "submitted"
            ]
            rows.append([agent, len(healthy), Share(len(alarms), len(healthy))])
    return Table(
        "alarms", "False alarms on healthy systems", ("agent", "healthy systems", "false alarms"), rows
    )


def _build_harm(episodes: Sequence[Episode]) -> Table:
    rows: list[list[Cell]] = []
    for agent, own in group_by_agent(episodes).items():
        harms = [episode.results["harm"] for episode in own if "harm" in episode.results]
        if not harms:
            continue
        regressed = sum(bool(harm.get("regressions")) for harm in harms)
        beyond = sum(bool(harm.get("changes_beyond_need")) for harm in harms)
        after = [
            harm["after"]["severity"] - harm["severity"]["start"]
            for harm in harms
            if harm.get("after") and "start" in (harm.get("severity") or {})
        ]
        burnt = [harm["error_budget"]["burnt"] for harm in harms if harm.get("error_budget")]
        rows.append(
            [
                agent,
                Share(regressed, len(harms)),
                Share(beyond, len(harms)),
                Amount(fmean(after) if after else None, "", 2),
                Amount(fmean(burnt) if burnt else None, "%", 1),
            ]
        )
    header = (
        "agent",
        "with regressions",
        "with needless changes",
        "change of severity",
        "error budget burnt",
    )
    note = (
        "Regressions: the system got worse after a step that changed it. Needless changes: declarations that neither belong to the "
        "fault nor match the state before it. Severity is 0 to 1; negative is better. The error budget is that of 30 days."
    )
    return Table("harm", "Harm and regressions", header, rows, note)


def _iter_actions(episodes: Iterable[Episode]) -> Iterator[str]:
    for episode in episodes:
        for action in episode.actions:
            name = action.name or NO_ACTION
            yield name if action.is_valid or not action.name else f"{name} (refused)"


def _build_actions(episodes: Sequence[Episode]) -> Table:
    """Return the distribution of actions, overall and by success."""
    every = Counter(_iter_actions(episodes))
    columns: dict[str, Counter[str]] = {}
    for agent, own in group_by_agent(episodes).items():
        columns[agent] = Counter(_iter_actions(own))
        for word, is_solved in (("solved", True), ("not solved", False)):
            chosen = [episode for episode in own if episode.is_solved is is_solved]
            if chosen:
                columns[f"{agent}, {word}"] = Counter(_iter_actions(chosen))
    rows: list[list[Cell]] = [
        [name, *(_get_share_of(counts, name) for counts in columns.values())] for name, _ in _rank(every)
    ]
    return Table("actions", "Actions", ("action", *columns), rows, "Shares of all actions of each column.")


def _get_share_of(counts: Counter[str], name: str) -> Amount:
    total = counts.total()
    return Amount(counts[name] / total if total else None, "%", 0)


def _rank(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the most frequent first; those of equal frequency by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _build_programs(episodes: Sequence[Episode]) -> Table:
    by_agent = {
        agent: Counter(
            program for episode in own for action in episode.actions for program in action.programs
        )
        for agent, own in group_by_agent(episodes).items()
    }
    every: Counter[str] = sum(by_agent.values(), Counter())
    rows: list[list[Cell]] = [
        [program, *(counts[program] for counts in by_agent.values())]
        for program, _ in _rank(every)[:MAX_PROGRAMS]
    ]
    return Table("commands", "Commands in the shell", ("command", *by_agent), rows, "Number of uses.")


def _build_repeats(episodes: Sequence[Episode]) -> Table:
    """Return pass@k and pass^k, averaged over problems and seeds."""
    rows: list[list[Cell]] = []
    attempts = {agent: _collect_attempts(own) for agent, own in group_by_agent(episodes).items()}
    most = max((len(tries) for own in attempts.values() for tries in own.values()), default=1)
    levels = list(range(1, most + 1)) if most > 1 else []
    for agent, own in attempts.items() if levels else ():
        row: list[Cell] = [agent]
        for estimate in (estimate_pass_at_k, estimate_pass_hat_k):
            for k in levels:
                values = [estimate(len(tries), sum(tries), k) for tries in own.values() if len(tries) >= k]
                row.append(Amount(fmean(values) if values else None, "%", 0))
        rows.append(row)
    header = ("agent", *(f"pass@{k}" for k in levels), *(f"pass^{k}" for k in levels))
    note = (
        "pass@k: at least one of k attempts succeeds; pass^k: all of them. Averaged over problems and seeds."
    )
    return Table("repeats", "Repeated attempts", header, rows, note)


def _collect_attempts(episodes: Iterable[Episode]) -> dict[tuple[str, int], list[bool]]:
    attempts: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for episode in episodes:
        attempts[episode.problem, episode.seed].append(episode.is_solved)
    return attempts


def _build_comparisons(episodes: Sequence[Episode]) -> Table:
    """Return the difference of each pair of agents on the problems that both worked on."""
    found = _compare_pairs(episodes, list(combinations(group_by_agent(episodes), 2)))
    rows: list[list[Cell]] = [[first, second, *cells] for first, second, cells in found]
    note = (
        "Difference of accuracy on the same problems and seeds, with its 95% interval from a bootstrap over fault families, and "
        "problems and seeds within them. p (Holm) allows for the number of comparisons."
    )
    return Table("pairs", "Paired comparison", ("agent", "compared with", *_DIFFERENCE), rows, note, labels=2)


def _build_variations(episodes: Sequence[Episode]) -> Table:
    """Return how the accuracy of each agent changes when the same problems are varied."""
    agents = group_by_agent(episodes)
    pairs = [
        (agent, plain) for agent in agents if (plain := split_agent(agent)[0]) != agent and plain in agents
    ]
    rows: list[list[Cell]] = [
        [*split_agent(varied), count_solved(agents[varied]), count_solved(agents[plain]), *cells]
        for varied, plain, cells in _compare_pairs(episodes, pairs)
    ]
    note = (
        "The same problems and seeds, compared with the unvaried ones as in the paired comparison. A difference below 0 is accuracy "
        "that depends on the wording, on the names of components, or on the temperature."
    )
    header = ("agent", "variation", "accuracy", "unvaried", *_DIFFERENCE)
    return Table("variations", "Variations", header, rows, note, labels=2)


_DIFFERENCE: Final = ("difference", "p", "p (Holm)", "problems", "families")


def _compare_pairs(
    episodes: Sequence[Episode], pairs: Sequence[tuple[str, str]]
) -> list[tuple[str, str, list[Cell]]]:
    """Return the pairs of agents that worked on common problems, each with the cells of its difference."""
    families = {(episode.problem, episode.seed): episode.facts.family for episode in episodes}
    attempts = {agent: _collect_attempts(own) for agent, own in group_by_agent(episodes).items()}
    found: list[tuple[str, str, Difference]] = []
    for first, second in pairs:
        differences: dict[str, list[float]] = defaultdict(list)
        for unit in sorted(attempts[first].keys() & attempts[second].keys()):
            gain = fmean(attempts[first][unit]) - fmean(attempts[second][unit])
            differences[families[unit]].append(gain)
        if differences:
            found.append((first, second, compare_paired(differences)))
    adjusted = adjust_by_holm([difference.p_value for *_, difference in found])
    return [
        (
            first,
            second,
            [
                Amount(difference.value, "points", 0, difference.interval),
                Amount(difference.p_value, "", 4),
                Amount(p_value, "", 4),
                difference.problems,
                difference.families,
            ],
        )
        for (first, second, difference), p_value in zip(found, adjusted, strict=True)
    ]


def compare_agents(episodes: Sequence[Episode], first: str, second: str) -> list[Table]:
    """Return how two agents differ: how many problems each solved, and every episode that only one of them solved."""
    by_agent = {
        agent: {(episode.problem, episode.seed, episode.repeat): episode for episode in own}
        for agent, own in group_by_agent(episodes).items()
        if agent in (first, second)
    }
    ours, theirs = by_agent.get(first, {}), by_agent.get(second, {})
    common = sorted(ours.keys() & theirs.keys())
    outcomes = Counter((ours[unit].is_solved, theirs[unit].is_solved) for unit in common)
    counts: list[list[Cell]] = [
        ["both", outcomes[True, True]],
        [f"only {first}", outcomes[True, False]],
        [f"only {second}", outcomes[False, True]],
        ["neither", outcomes[False, False]],
    ]
    rows: list[list[Cell]] = []
    for unit in common:
        own, other = ours[unit], theirs[unit]
        if own.is_solved is not other.is_solved:
            solver, loser = (own, other) if own.is_solved else (other, own)
            rows.append(
                [
                    unit[0],
                    str(unit[1]),
                    str(unit[2]),
                    solver.agent,
                    solver.steps,
                    loser.steps,
                    loser.ending,
                    loser.record,
                ]
            )
    header = (
        "problem",
        "seed",
        "repeat",
        "solved by",
        "steps",
        "steps of the other",
        "its ending",
        "its session",
    )
    return [
        Table("solved", "Solved by", ("agent", "episodes"), counts),
        Table("different", "Episodes that only one of them solved", header, rows, labels=3),
    ]


def _build_problems(episodes: Sequence[Episode]) -> Table:
    """Return the share of solved attempts at each problem, the hardest first."""
    problems: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        problems[episode.problem].append(episode)
    agents = list(group_by_agent(episodes))
    ordered = sorted(problems.items(), key=lambda item: (count_solved(item[1]).value or 0.0, item[0]))
    rows: list[list[Cell]] = []
    for problem, own in ordered:
        shares = [count_solved([episode for episode in own if episode.agent == agent]) for agent in agents]
        rows.append([problem, count_solved(own), *shares])
    return Table("problems", "Problems, the hardest first", ("problem", "all agents", *agents), rows)


def _build_failures(episodes: Sequence[Episode]) -> Table:
    """Return how sessions ended without a verdict or without an answer, with the first reason."""
    reasons: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in episodes:
        if episode.ending != "submitted":
            reasons[episode.agent, episode.ending].append(episode)
    rows: list[list[Cell]] = []
    for (agent, ending), own in sorted(reasons.items()):
        why = next((episode.why for episode in own if episode.why), "").splitlines()
        rows.append([agent, ending, len(own), why[0][:160] if why else "–"])
    return Table(
        "failures", "Sessions without an answer", ("agent", "ending", "episodes", "reason"), rows, labels=2
    )

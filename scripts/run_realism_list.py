"""Run lists of commands (``tests/realism/lists``) and write a transcript of each, to be read by a person who knows real clusters.

python scripts/run_realism_list.py --out /tmp/transcripts                      # all lists
python scripts/run_realism_list.py --out /tmp/transcripts hotel_broken_node    # one list
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from aiopslab.apps import find_application
from aiopslab.cloud import Environment, Terminal
from aiopslab.orchestrator import deploy, open_problem, stage
from aiopslab.orchestrator.problems import ProblemRegistry

LISTS = Path(__file__).parent.parent / "tests" / "realism" / "lists"
TIMEOUT_S = 120.0
THINKING_S = 5.0


def parse_list(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the header (application, problem, seed) and the commands of a list."""
    header: dict[str, str] = {}
    commands = []
    for line in text.splitlines():
        name, colon, value = line.removeprefix("# ").partition(": ")
        if line.startswith("# ") and colon and not commands:
            header[name] = value
        elif line:
            commands.append(line)
    return header, commands


def prepare_terminal(application: str, problem: str, seed: int) -> tuple[Environment, Terminal]:
    """Build the world of a list: a problem, or a healthy application with users."""
    if problem != "none":
        task = ProblemRegistry().get_problem_instance(problem)
        stage(task, deploy(task, seed))
        posed = open_problem(task)
        return task.environment, posed.terminal
    environment = Environment(find_application(application), seed)
    environment.settle()
    return environment, environment.terminal()


def run_list(text: str) -> Iterator[str]:
    """Run the commands of a list in order, in one shell; yield each with its number, output and status."""
    header, commands = parse_list(text)
    environment, terminal = prepare_terminal(header["application"], header["problem"], int(header["seed"]))
    terminal.open_shell()
    for number, command in enumerate(commands, 1):
        begun = environment.now
        result = terminal.run(command, TIMEOUT_S)
        output = (result.stdout + result.stderr).decode(errors="replace")
        yield f"### {number} ({environment.now - begun:.2f} s, status {result.status})\n$ {command}\n{output}"
        environment.run_for(THINKING_S)


def main() -> None:
    """Write ``NAME.txt`` into the folder for each list."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="the lists to run; all by default")
    parser.add_argument("--out", type=Path, required=True, help="folder for the transcripts")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in sorted(LISTS.glob("*.txt")):
        if not options.names or path.stem in options.names:
            with (options.out / path.name).open("w") as transcript:
                for answer in run_list(path.read_text()):
                    transcript.write(f"{answer}\n")
                    transcript.flush()
            print(options.out / path.name)


if __name__ == "__main__":
    main()

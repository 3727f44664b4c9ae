"""The incident inside the container of a Harbor task: ``act`` takes a turn, ``judge`` prints the reward.

The session is a file of the agent's answers. Each call prepares the world again and repeats them, which takes some seconds and gives
the same observations, because worlds are deterministic: no process runs between calls, and the judge does not depend on what
the agent left behind in the container.
"""

from __future__ import annotations

import fcntl
import json
import sys
from pathlib import Path
from typing import Any, Final

from aiopslab.env import IncidentEnv

FOLDER: Final = Path("/var/lib/incident")
OVER: Final = "The session is over. Further calls have no effect."


def act(folder: Path, answer: str | None) -> str:
    """Take a turn with an answer, and return the observation; without an answer, return the first one."""
    with (folder / "answers.jsonl").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        answers = _read_answers(file)
        if answer is None:
            return replay(folder, [])[0]
        observation, results, count = replay(folder, [*answers, answer])
        if count <= len(answers):
            return OVER
        file.write(json.dumps(answer) + "\n")
    return observation if results is None else f"{observation}\n\n{OVER}"


def judge(folder: Path) -> float:
    """Return the reward of the session: 1 for success, else 0."""
    path = folder / "answers.jsonl"
    with path.open("a+") as file:
        answers = _read_answers(file)
    results = replay(folder, answers, finish=True)[1]
    return 1.0 if results is not None and results.get("success") else 0.0


def replay(folder: Path, answers: list[str], finish: bool = False) -> tuple[str, dict[str, Any] | None, int]:
    """Repeat a session; return its last observation, its evaluation if it has ended, and how many answers it took.

    With ``finish``, a session that has not ended is judged as it stands.
    """
    settings = json.loads((folder / "incident.json").read_text())
    with IncidentEnv([settings["problem"]], settings["seed"], max_steps=settings["max_steps"]) as env:
        observation, _ = env.reset()
        for count, answer in enumerate(answers, 1):
            observation, _, terminated, truncated, info = env.step(answer)
            if terminated or truncated:
                return observation, info["results"], count
        return observation, env.finish()["results"] if finish else None, len(answers)


def _read_answers(file: Any) -> list[str]:
    file.seek(0)
    return [json.loads(line) for line in file]


def main() -> None:
    """Run ``act [ANSWER]`` or ``judge``."""
    verb, *rest = sys.argv[1:] or ["act"]
    print(judge(FOLDER) if verb == "judge" else act(FOLDER, " ".join(rest) or None))


if __name__ == "__main__":
    main()

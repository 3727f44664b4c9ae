"""The onboarding assessment of the public AIOpsLab release: a person works on a problem until a submission is right."""

from __future__ import annotations

import time
from typing import Any

from aiopslab.orchestrator import SUBMIT, EvalParser, NotReady, Orchestrator
from aiopslab.paths import RESULTS_DIR
from aiopslab.utils import InvalidSubmissionError, ResponseParsingError, SubmissionStatus


class Evaluator(Orchestrator):
    """An orchestrator whose sessions have no limit of steps, and go on after a wrong answer."""

    def __init__(self) -> None:
        super().__init__(RESULTS_DIR)
        self.results: dict[str, Any] = {}

    def init_problem(self, problem_id: str, seed: int | None = None) -> tuple[str, str, dict[str, str]]:
        """Prepare a problem, as the orchestrator does."""
        prepared = super().init_problem(problem_id, seed)
        self.parser = EvalParser()
        return prepared

    async def ask_env(self, input: str) -> str | SubmissionStatus:
        """Run a shell command, or judge a submission: ``VALID_SUBMISSION`` if it is right, else ``INVALID_SUBMISSION``."""
        try:
            call = self.parser.parse(input)
        except ResponseParsingError as error:
            return str(error)
        if call["api_name"] != SUBMIT:
            return await super().ask_env(f"{call['api_name']}({', '.join(map(repr, call['args']))})")
        session = self.session
        if session is None or session.problem is None:
            raise NotReady("No problem is prepared. Call init_problem(problem_id) first.")
        problem = session.problem
        try:
            session.solution = problem.take_submission(call["args"], call["kwargs"])
        except InvalidSubmissionError as error:
            return str(error)
        problem.results.clear()
        self.results = problem.eval(session.solution, session.history, session.get_duration())
        right = bool(self.results.get("success"))
        status = SubmissionStatus.VALID_SUBMISSION if right else SubmissionStatus.INVALID_SUBMISSION
        session.add([{"role": "assistant", "content": input}, {"role": "env", "content": status.name}])
        return status

    async def start_problem(self, max_steps: int = 0) -> dict[str, Any]:
        """Ask the agent until a submission is right; return and record the session. There is no limit of steps."""
        session = self.session
        if session is None:
            raise NotReady("No problem is prepared. Call init_problem(problem_id) first.")
        began = time.perf_counter()
        session.set_agent(self.agent_name)
        session.start()
        state: str | SubmissionStatus = "Please take the next action"
        while state is not SubmissionStatus.VALID_SUBMISSION:
            answer = await self.ask_agent(str(getattr(state, "name", state)))
            self.sprint.agent(answer)
            state = await self.ask_env(answer)
            print(_tell(state))
        session.end()
        session.set_results(self.results)
        self.sprint.result(self.results)
        session.to_json()
        return {
            "history": session.history,
            "final_state": state,
            "results": session.results,
            "framework_overhead": time.perf_counter() - began,
        }


def _tell(state: str | SubmissionStatus) -> str:
    if state is SubmissionStatus.VALID_SUBMISSION:
        return "The submission is correct."
    if state is SubmissionStatus.INVALID_SUBMISSION:
        return "The problem is not solved yet. Continue, and submit again."
    return str(state)

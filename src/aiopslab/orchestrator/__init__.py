"""The orchestrator: prepares problems, runs sessions of agents on them, evaluates and records them.

This package exports what other packages need of it, besides its sub-packages ``actions``, ``evaluation``, ``evaluators``,
``models``, ``oracles``, ``problems``, ``tasks`` and ``validation``. Each name is loaded when it is first used, because the
command line lists problems and prints its help without loading a cloud.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.orchestrator.action_names import DEFAULT as DEFAULT, SUBMIT as SUBMIT
    from aiopslab.orchestrator.agent import (
        AgentFailed as AgentFailed,
        AgentGone as AgentGone,
        AgentLink as AgentLink,
        AgentTimedOut as AgentTimedOut,
        SubprocessAgent as SubprocessAgent,
        Usage as Usage,
    )
    from aiopslab.orchestrator.episode import Pace as Pace
    from aiopslab.orchestrator.orchestrator import NotReady as NotReady, Orchestrator as Orchestrator
    from aiopslab.orchestrator.parser import ResponseParser as ResponseParser
    from aiopslab.orchestrator.preparation import (
        PreparedProblem as PreparedProblem,
        ProgressCallback as ProgressCallback,
        Prompt as Prompt,
        deploy as deploy,
        open_problem as open_problem,
        stage as stage,
    )
    from aiopslab.orchestrator.records import (
        RecordNotWritten as RecordNotWritten,
        build_record as build_record,
        comparable as comparable,
        get_version as get_version,
        to_json as to_json,
        write_record as write_record,
    )
    from aiopslab.orchestrator.redaction import Redactor as Redactor, find_secrets as find_secrets
    from aiopslab.orchestrator.session import (
        WALL as WALL,
        Session as Session,
        SessionItem as SessionItem,
        Step as Step,
    )
    from aiopslab.orchestrator.stages import Stage as Stage, Stages as Stages, run_episode as run_episode

"""The orchestrator: prepares problems, runs sessions of agents on them, evaluates and records them.

This package exports what other packages need of it, besides its sub-packages ``actions``, ``evaluation``, ``evaluators``,
``models``, ``oracles``, ``problems``, ``tasks``, ``transactions`` and ``validation``. Each name is loaded when it is first used, because the
command line lists problems and prints its help without loading a cloud.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.orchestrator.action_names import (
        DEFAULT as DEFAULT,
        EXEC_SHELL as EXEC_SHELL,
        FIRST as FIRST,
        NEXT as NEXT,
        SUBMIT as SUBMIT,
    )
    from aiopslab.orchestrator.agent_link import (
        AgentFailed as AgentFailed,
        AgentGaveUp as AgentGaveUp,
        AgentGone as AgentGone,
        AgentLink as AgentLink,
        AgentNotStarted as AgentNotStarted,
        AgentTimedOut as AgentTimedOut,
        Usage as Usage,
        check_response as check_response,
        format_error as format_error,
        parse_settings as parse_settings,
        parse_usage as parse_usage,
    )
    from aiopslab.orchestrator.backstop import HarnessTimedOut as HarnessTimedOut
    from aiopslab.orchestrator.episode import LIVE_TIMEOUT_S as LIVE_TIMEOUT_S, Pace as Pace
    from aiopslab.orchestrator.fidelity import (
        Comparison as Comparison,
        compare_problem as compare_problem,
        compute_agreement as compute_agreement,
    )
    from aiopslab.orchestrator.interrupts import (
        catch_ending_signals as catch_ending_signals,
        end_on_signals as end_on_signals,
    )
    from aiopslab.orchestrator.journal import (
        NotARecord as NotARecord,
        close_journal as close_journal,
        format_draft as format_draft,
        list_records as list_records,
        read_record as read_record,
    )
    from aiopslab.orchestrator.onboarding_eval_parser import EvalParser as EvalParser
    from aiopslab.orchestrator.orchestrator import (
        AGENT_FAILURES as AGENT_FAILURES,
        NotReady as NotReady,
        Orchestrator as Orchestrator,
    )
    from aiopslab.orchestrator.parser import ResponseParser as ResponseParser
    from aiopslab.orchestrator.preparation import (
        NotAvailable as NotAvailable,
        PreparedProblem as PreparedProblem,
        Prompt as Prompt,
        deploy as deploy,
        deploy_on_cluster as deploy_on_cluster,
        explain_unavailable as explain_unavailable,
        get_baseline_key as get_baseline_key,
        get_fault_key as get_fault_key,
        offer_transactions as offer_transactions,
        open_problem as open_problem,
        stage as stage,
    )
    from aiopslab.orchestrator.records import (
        PACKAGE as PACKAGE,
        RecordNotWritten as RecordNotWritten,
        build_record as build_record,
        build_step as build_step,
        comparable as comparable,
        get_version as get_version,
        to_json as to_json,
        write_record as write_record,
    )
    from aiopslab.orchestrator.redaction import Redactor as Redactor, find_secrets as find_secrets
    from aiopslab.orchestrator.session import (
        WALL as WALL,
        Ending as Ending,
        Session as Session,
        SessionItem as SessionItem,
        Step as Step,
    )
    from aiopslab.orchestrator.stages import (
        MAX_PROCESSES as MAX_PROCESSES,
        Stage as Stage,
        Stages as Stages,
        prepare_on_cluster as prepare_on_cluster,
        run_episode as run_episode,
    )
    from aiopslab.orchestrator.subprocess_agent import (
        SubprocessAgent as SubprocessAgent,
        get_basic_variables as get_basic_variables,
    )
    from aiopslab.orchestrator.supervision import (
        Isolation as Isolation,
        Limits as Limits,
        Nursery as Nursery,
        NurseryLink as NurseryLink,
        end_with_parent as end_with_parent,
        hide_command_line as hide_command_line,
        reap_orphans as reap_orphans,
        serve_nursery as serve_nursery,
        shield_harness as shield_harness,
        wait_for_orphans as wait_for_orphans,
    )
    from aiopslab.utils import ProgressCallback as ProgressCallback, ignore_progress as ignore_progress

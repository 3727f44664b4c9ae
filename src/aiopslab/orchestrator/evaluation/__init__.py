"""Evaluation of sessions: answers, costs, harm, and the system's health at any moment."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.orchestrator.evaluation.judge import case_of as case_of, judge_reasoning as judge_reasoning
    from aiopslab.orchestrator.evaluation.reads import list_programs as list_programs
    from aiopslab.orchestrator.evaluation.results import (
        evaluate as evaluate,
        evaluate_record as evaluate_record,
        parse_step as parse_step,
    )
    from aiopslab.orchestrator.evaluation.severity import (
        Health as Health,
        health as health,
        tally_requests as tally_requests,
    )
    from aiopslab.orchestrator.evaluation.summary import summarize_results as summarize_results
    from aiopslab.orchestrator.evaluation.trajectory import cut_middle as cut_middle
    from aiopslab.orchestrator.tasks import Metric as Metric

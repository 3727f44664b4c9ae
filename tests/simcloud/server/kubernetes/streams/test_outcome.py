from __future__ import annotations

import json

from simcloud.server.kubernetes.streams.channels import COMMANDS, choose
from simcloud.server.kubernetes.streams.commands import encode_outcome

V4 = choose(["v4.channel.k8s.io"], COMMANDS)
V1 = choose(["channel.k8s.io"], COMMANDS)


def test_success() -> None:
    assert encode_outcome(V4, 0, "") == b'{"metadata":{},"status":"Success"}'
    assert encode_outcome(V1, 0, "") == b""


def test_an_exit_code_is_a_cause() -> None:
    assert json.loads(encode_outcome(V4, 7, "")) == {
        "metadata": {},
        "status": "Failure",
        "message": "command terminated with non-zero exit code: command terminated with exit code 7",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": "7"}]},
    }


def test_what_could_not_be_run_is_an_internal_error_twice_over() -> None:
    status = json.loads(encode_outcome(V4, 1, "error executing command in container: gone"))
    once = "Internal error occurred: error executing command in container: gone"
    assert status == {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {once}",
        "reason": "InternalError",
        "details": {"causes": [{"message": once}]},
        "code": 500,
    }


def test_the_oldest_variants_get_the_bare_sentence() -> None:
    assert encode_outcome(V1, 7, "") == (
        b"command terminated with non-zero exit code: command terminated with exit code 7"
    )

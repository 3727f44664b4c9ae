"""Run the public AIOpsLab repository's own tests and programs, unmodified, on this package.

    python scripts/run_public_clients.py PATH [--python PYTHON] [--seconds 120] [--only NAME…]

PATH is a checkout of the public repository. It is copied without its folder ``aiopslab``, so that its code imports this package.
PYTHON needs the packages that the public code imports (openai, groq, fastapi, prompt_toolkit, tiktoken, wandb, …) and this
package's dependencies. Language models are a scripted endpoint on the loopback interface: it looks at the pods once and then submits.
Clients that work through all problems are stopped after some seconds. Prints for each program how it ended and its records.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
PROBLEM = "misconfig_app_hotel_res-detection-1"
TESTS = (
    "tests/judge", "tests/orchestrator/log_dedup.py", "tests/parser", "tests/registry", "tests/service", "tests/shell",
    "tests/integration/smoke_test.py",
)  # fmt: skip
RELEASE = (
    "kubectl get pv -o name | xargs -I V kubectl patch V --type=json "
    """-p '[{"op":"remove","path":"/spec/claimRef"}]'"""
)
RESTART = (
    "kubectl -n test-hotel-reservation get pods | grep -v 1/1 | awk 'NR>1 {print $1}' | "
    "xargs kubectl -n test-hotel-reservation delete pod --grace-period=5"
)
PROMPT = re.compile(r"(> ?|name\?: )\s*$")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")
REDIRECT = """
import os, sys, types
import openai, groq
class _Open(openai.OpenAI):
    def __init__(self, *args, **named):
        super().__init__(*args, **(named | {"base_url": os.environ["SCRIPTED"] + "/v1", "api_key": "none"}))
class _Azure(openai.AzureOpenAI):
    def __init__(self, *args, **named):
        kept = {"azure_endpoint": os.environ["SCRIPTED"], "api_key": "none", "api_version": "1"}
        super().__init__(**kept)
class _Groq(groq.Groq):
    def __init__(self, *args, **named):
        super().__init__(base_url=os.environ["SCRIPTED"], api_key="none")
openai.OpenAI, openai.AzureOpenAI, groq.Groq = _Open, _Azure, _Groq
words = types.SimpleNamespace(encode=lambda text, **_: text.split(), decode=" ".join)
tiktoken = types.ModuleType("tiktoken")  # the genuine one downloads its tables
tiktoken.encoding_for_model = tiktoken.get_encoding = lambda _name: words
sys.modules["tiktoken"] = tiktoken
"""
"""Loaded by the programs at their start: it sends their requests to the scripted endpoint."""
DEPLOYED = """
import pytest
from aiopslab.service.apps.socialnet import SocialNetwork
@pytest.fixture(scope="session", autouse=True)
def cluster():
    app = SocialNetwork()
    app.deploy()
    return app
"""
"""For the tests that expect a cluster with the social network."""


@dataclass(frozen=True)
class Program:
    """One program of the public repository, with what is typed into it."""

    arguments: tuple[str, ...]
    typed: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


PROGRAMS = {
    "tests": Program(("-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *TESTS)),
    **{
        name: Program((f"clients/{name}.py",)) for name in ("gpt", "react", "flash", "vllm", "generic_openai")
    },
    **{name: Program((f"clients/{name}.py",)) for name in ("qwen", "deepseek", "llama")},
    "openrouter": Program(("clients/openrouter.py", "--problem-ids", PROBLEM)),
    "openrouter, resumed": Program(("clients/openrouter.py", "--problem-ids", PROBLEM, "--skip-completed")),
    "gpt_azure_identity": Program(("clients/gpt_azure_identity.py", "cli", "azure.yml")),
    "client": Program(("clients/client.py", "--agent", "gpt", "--problem-id", PROBLEM, "--max-steps", "5")),
    "cli": Program(("cli.py",), (f"start {PROBLEM}", 'exec_shell("kubectl get ns")', 'submit("Yes")')),
    "assessment": Program(
        ("assessment.py",),
        ("Ada", "kubectl get pv", "submit", RELEASE, "sleep 29", RESTART, "sleep 29", "submit", "exit"),
    ),
    "service": Program(("-c", "import try_service")),
}
TRY_SERVICE = f'''
from fastapi.testclient import TestClient
import service
client = TestClient(service.app)
print("health", client.get("/health").status_code, "problems", len(client.get("/problems").json()))
asked = {{"problem_id": "no-such-problem", "agent_name": "gpt"}}
print("unknown problem", client.post("/simulate", json=asked).status_code)
asked = {{"problem_id": "{PROBLEM}", "agent_name": "vllm", "max_steps": 5}}
answer = client.post("/simulate", json=asked)
print("simulate", answer.status_code, answer.json().get("results", answer.json()))
'''


class Endpoint(BaseHTTPRequestHandler):
    """Answers chat requests: first a look at the pods, then a submission of the form that the instructions show."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = "\n".join(str(message["content"]) for message in request["messages"])
        message = {"role": "assistant", "content": f"Thought: next.\n\nAction:\n```\n{_answer(text)}\n```"}
        streams = request.get("stream", False)
        choice = {"index": 0, "finish_reason": "stop", "delta" if streams else "message": message}
        usage = {
            "prompt_tokens": len(text) // 4,
            "completion_tokens": 20,
            "total_tokens": len(text) // 4 + 20,
        }
        kind = "chat.completion.chunk" if streams else "chat.completion"
        body = {
            "id": "1",
            "object": kind,
            "created": 1,
            "model": "scripted",
            "choices": [choice],
            "usage": usage,
        }
        data = json.dumps(body).encode()
        if streams:
            data = b"data: " + data + b"\n\ndata: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def _answer(text: str) -> str:
    if "RESTARTS" not in text:
        return 'exec_shell("kubectl get pods -A | head -20")'
    for example in ('submit("Yes")', 'submit({"system_level": "Hardware", "fault_type": "Code Defect"})'):
        if example in text:
            return example
    return 'submit(["geo"])' if 'submit(["' in text else "submit()"


def type_lines(terminal: int, lines: list[str], deadline: float) -> str:
    """Type a line at each prompt, until the program ends or time is up; return what it printed, without control sequences."""
    shown = ""
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.5)[0]:
            if lines and PROMPT.search(shown[-200:]):
                os.write(terminal, lines.pop(0).encode() + b"\r")
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the program has closed its terminal
            break
        if not data:
            break
        shown += CONTROL.sub("", data.decode(errors="replace"))
    return shown


def run_program(name: str, python: str, folder: Path, url: str, seconds: float) -> str:
    """Run one program; return how it ended, the number of its records, and the last lines that it printed."""
    program = PROGRAMS[name]
    paths = os.pathsep.join(map(str, (folder / "redirect", SOURCE, folder)))
    keys = dict.fromkeys(("OPENAI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY"), "none")
    env = os.environ | keys | {"PYTHONPATH": paths, "SCRIPTED": url, "HOME": str(folder), "TERM": "dumb"}
    env |= {"DASHSCOPE_API_KEY": "none", "WANDB_MODE": "disabled", "OPENAI_COMPATIBLE_BASE_URL": f"{url}/v1"}
    env |= {"OPENAI_COMPATIBLE_API_KEY": "none", "LOG_TRIM": ""}
    for left in ("results", "cache_dir"):  # a client that is stopped leaves half a cache of answers
        shutil.rmtree(folder / left, ignore_errors=True)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [python, *program.arguments],
        cwd=folder,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        output = type_lines(ours, list(program.typed), time.monotonic() + seconds)
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
        ended = f"exit code {process.returncode}"
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            ended = f"stopped after {seconds:g} s"
    os.close(ours)
    records = len([*folder.glob("results/*-*.json"), *folder.glob("aiopslab/data/results/**/*.json")])
    last = [line for line in output.splitlines() if line.strip()][-12:]
    return f"== {name}: {ended}, {records} records\n" + "\n".join(f"   {line[:300]}" for line in last)


def main() -> None:
    """Copy the public repository and run the chosen programs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS))
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "public"
        shutil.copytree(
            options.path, folder, ignore=shutil.ignore_patterns("aiopslab", "aiopslab-applications", ".git")
        )
        (folder / "redirect").mkdir()
        (folder / "redirect" / "sitecustomize.py").write_text(REDIRECT)
        (folder / "conftest.py").write_text(DEPLOYED)
        (folder / "try_service.py").write_text(TRY_SERVICE)
        (folder / "azure.yml").write_text("azure_endpoint: x\napi_version: '1'\ndeployment: scripted\n")
        for name in options.only:
            print(run_program(name, options.python, folder, url, options.seconds), flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()

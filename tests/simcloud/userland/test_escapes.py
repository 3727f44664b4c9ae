"""A stranger at the terminal: nothing of the host is visible, and everything ends by a count."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.simcloud.conftest import make_machine, type_line

SECRET = "host-secret-7d1f"
STEPS = "limit exceeded: more than 200000 steps without a pause"
DATA = "limit exceeded: more than 64 MiB of data without a pause"
FORK = "fork: retry: Resource temporarily unavailable"


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


@pytest.mark.parametrize(
    "line",
    [
        "cat {path}",
        "cat /..{path}",
        "cat ../../../../../../../..{path}",
        "ln -s {path} link; cat link",
        "ln -s / root; cat root{path}",
        "cd /proc/self/root; cat .{path}",
        "cat /proc/self/cwd{path}; cat /proc/1/root{path}; cat /proc/self/fd/0{path}",
        "cp {path} here; cat here",
        "mkdir m; mount --bind / m; cat m{path}",
        "source {path}; . {path}; bash {path}",
        "while read l; do echo $l; done < {path}",
        "echo $(<{path})",
        "mapfile -t a < {path}; echo ${{a[@]}}",
        "awk '{{print}}' {path}; awk 'BEGIN{{while((getline l < \"{path}\")>0) print l}}'",
        "sed -n p {path}; sed 'r {path}' /dev/null; echo | sed 'r {path}'",
        "grep -r . {path}; jq -R . {path}; jq -n --rawfile x {path} '$x'",
        "tar cf - {path} | tar xOf -; dd if={path}; head {path}; sort {path}; cat -A {path}; diff {path} /dev/null",
        "curl -s file://{path}; wget -qO- file://{path}; curl -s -d @{path} localhost",
        "find / -name secret.txt -exec cat {{}} +; xargs -a {path} echo",
        "base64 {path}; md5sum {path}; gzip -c {path} | zcat; envsubst < {path}",
    ],
)
def test_no_path_or_link_leads_to_the_host(line: str, secret_file: Path) -> None:
    done = type_line(make_machine(), line.format(path=secret_file))
    assert SECRET.encode() not in done.stdout + done.stderr


def test_the_environment_is_the_containers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_SECRET", SECRET)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/{SECRET}")
    done = type_line(
        make_machine(),
        "env; set; export -p; cat /proc/*/environ; printenv; awk 'BEGIN{for(k in ENVIRON) print ENVIRON[k]}'; jq -n env",
    )
    assert SECRET.encode() not in done.stdout + done.stderr


def test_facts_of_the_host_are_not_told(hosts_own: str) -> None:
    line = "hostname; uname -a; cat /etc/hostname /etc/passwd /proc/version /proc/cpuinfo /proc/meminfo /proc/mounts; df; ps aux; ip addr; id"
    done = type_line(make_machine(), line)
    assert hosts_own.encode() not in done.stdout
    assert str(Path.cwd()).encode() not in done.stdout


def test_the_clock_is_virtual() -> None:
    done = type_line(
        make_machine(),
        "date -u +%F; awk 'BEGIN{print strftime(\"%F\", systime(), 1)}'; jq -nr 'now|todate[:10]'; printf '%(%F)T\\n' -1",
    )
    assert done.stdout.decode().split() == ["2026-01-05"] * 4


@pytest.mark.parametrize(
    "line",
    [
        "curl -s -m 5 http://127.0.0.1:{port}/",
        "curl -s -m 5 http://localhost:{port}/",
        "wget -q -T 5 -t 1 -O- http://127.0.0.1:{port}/",
        "echo hi | nc -w 5 127.0.0.1 {port}",
        "exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3",
    ],
)
def test_no_connection_leaves_the_simulation(line: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        done = type_line(make_machine(), line.format(port=listener.getsockname()[1]))
        assert done.status != 0
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.parametrize(
    "name", ["python", "python3", "perl", "ruby", "node", "gcc", "strace", "sudo", "docker"]
)
def test_there_is_no_other_interpreter(name: str) -> None:
    done = type_line(make_machine(), f"{name} -c 'import os; print(os.environ)'")
    assert (done.status, done.stderr) == (127, f"bash: line 1: {name}: command not found\n".encode())


SEGMENTATION_FAULT = 139
"""Status of a shell whose stack overflows; only the kernel logs that."""
ENDLESS = [
    ("while :; do :; done", STEPS),
    ("while true; do x=$((x+1)); done", STEPS),
    ("for ((;;)); do :; done", STEPS),
    ("until false; do true; done", STEPS),
    ("while true; do /bin/true; done", STEPS),
    ("while true; do echo; done > /dev/null", STEPS),
    ("f() { f; }; f", ""),
    ("f() { g; }; g() { f; }; f", ""),
    ('eval() { builtin eval "$@"; }; x=\'eval "$x"\'; eval "$x"', ""),
    (":(){ :|:& };:; sleep 5", ""),
    ("echo './bomb & ./bomb &' > bomb; chmod +x bomb; ./bomb; sleep 1", ""),
    ("echo './next' > next; chmod +x next; ./next", ""),
    ("echo 'exec ./again' > again; chmod +x again; ./again", STEPS),
    ("echo './child & exit' > child; chmod +x child; ./child; sleep 5", ""),
    ("awk 'BEGIN{while(1){}}'", STEPS),
    ("awk 'BEGIN{for(;;) x++}'", STEPS),
    ("awk 'function f(){f()} BEGIN{f()}'", "limit"),
    ("awk 'BEGIN{s=\"x\"; while(1) s=s s}'", DATA),
    ("awk 'BEGIN{while(1) print \"x\"}' > /dev/null", STEPS),
    ("sed ':a;ba' <<< x", STEPS),
    ("jq -n 'def f: f; f'", ""),
    ("jq -n '[range(1e12)]|length'", ""),
    ("jq -n 'last(repeat(1))'", ""),
    ("yes > endless", DATA),
    ("yes | cat > /dev/null", DATA),
    ("cat /dev/zero > /dev/null", DATA),
    ("cat /dev/zero | wc -c", DATA),
    ("cat /dev/urandom | sort", DATA),
    ("head -c 100G /dev/zero | tail -c 1", DATA),
    ("dd if=/dev/urandom of=/dev/null", DATA),
    ("tail -f /dev/zero", DATA),
    ("x=x; while :; do x=$x$x; done", DATA),
    ("x=x; for i in {1..60}; do x=$x$x; done; echo ${#x}", DATA),
    ('a=(1); while :; do a=("${a[@]}" "${a[@]}"); done', ""),
    ("echo {1..1000000000}", ""),
    ("printf '%1000000000d' 1 | wc -c", ""),
    ("printf -v x '%0999999999d' 1; echo ${#x}", ""),
    ("seq 1 1000000000000 | wc -l", DATA),
    ("while :; do find / > /dev/null; done", STEPS),
    ("while echo x; do :; done | while read y; do :; done", STEPS),
]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("line", "message"), ENDLESS)
def test_endless_things_end_by_a_count_with_the_same_plain_message(line: str, message: str) -> None:
    outcomes = []
    for seed in (1, 2):
        done = type_line(make_machine(seed), line)
        outcomes.append((done.status, done.stdout[-500:], done.stderr))
    assert outcomes[0] == outcomes[1], "it ended differently the second time"
    status, _, stderr = outcomes[0]
    assert message in stderr.decode()
    assert stderr or status == SEGMENTATION_FAULT, "it must say why it ended"
    assert b"Traceback" not in stderr
    assert status != 0 or "|" in line or "sleep" in line


def test_a_huge_here_document_is_refused() -> None:
    line = "cat <<EOF | wc -c\n" + "x" * (2 * 1024 * 1024) + "\nEOF"
    done = type_line(make_machine(), line)
    assert b"limit exceeded" in done.stderr or b"too long" in done.stderr
    assert done.status != 0


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    for line in (
        "(" * 5000 + ":" + ")" * 5000,
        "$(" * 3000 + ":" + ")" * 3000,
        "echo $((" + "(" * 5000 + "1" + ")" * 5000 + "))",
    ):
        done = type_line(make_machine(), line)
        assert done.status != 0
        assert done.stderr


def test_a_fork_bomb_leaves_the_machine_usable() -> None:
    machine = make_machine()
    type_line(machine, ":(){ :|:& };:")
    machine.kernel.run_for(60.0)
    done = type_line(machine, "echo still here; ps aux | wc -l")
    assert done.stdout.decode().split("\n")[0] == "still here"


@pytest.mark.slow
def test_a_sleeping_loop_may_live_for_ever() -> None:
    machine = make_machine()
    type_line(machine, "while true; do date >> /tmp/beats; sleep 10; done &")
    machine.kernel.run_for(86_400.0)
    done = type_line(machine, "wc -l < /tmp/beats")
    assert 8_600 < int(done.stdout) <= 8_641


@pytest.mark.parametrize("line", ["ls nope 2>/dev/full", "cat nope 2>/dev/full >/dev/full", "sleep x 2>&-"])
def test_a_complaint_that_cannot_be_written_does_no_harm(line: str) -> None:
    assert type_line(make_machine(), line).status != 0

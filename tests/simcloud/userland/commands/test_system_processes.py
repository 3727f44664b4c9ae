"""Processes as ps, top, pgrep, kill and pstree show and signal them, from a machine and from a container."""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.process import Container, Context
from simcloud.userland.images import operator_image
from tests.simcloud.conftest import make_machine, type_line


@pytest.fixture
def machine() -> Machine:
    return make_machine()


def text(machine: Machine, line: str) -> str:
    return type_line(machine, line).stdout.decode()


def box_on(machine: Machine) -> Container:
    """A container whose first process is a shell with a child."""
    box = machine.create_container("box", operator_image(), address="10.1.0.5")
    box.start(["bash", "-c", "sleep 1000; true"])
    machine.kernel.run_for(0.1)
    return box


async def busy(ctx: Context) -> int:
    """Half of a core, for ever."""
    while True:
        await ctx.cpu(0.5)
        await ctx.sleep(0.5)


def test_a_container_sees_only_its_own_processes_and_the_host_all(machine: Machine) -> None:
    box = box_on(machine)
    inside = box.run(["ps", "-eo", "pid,ppid,args"]).stdout.decode()
    assert inside == (
        "    PID    PPID COMMAND\n      1       0 bash -c sleep 1000; true\n      2       1 sleep 1000\n"
        "      3       0 ps -eo pid,ppid,args\n"
    )
    outside = text(machine, "ps -eo pid,ppid,args")
    assert "      1       0 /sbin/init\n" in outside
    assert "bash -c sleep 1000; true\n" in outside
    assert "sleep 1000\n" in outside
    assert box.run(["ls", "/proc"]).stdout.split()[:2] == [b"1", b"2"]


def test_the_forms_of_ps(machine: Machine) -> None:
    machine.kernel.run_for(90)
    assert text(machine, "ps aux | head -2") == (
        "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
        "root           1  0.0  0.1 169352 13716 ?        Ss   09:00   0:00 /sbin/init\n"
    )
    assert text(machine, "ps -ef | head -2") == (
        "UID          PID    PPID  C STIME TTY          TIME CMD\n"
        "root           1       0  0 09:00 ?        00:00:00 /sbin/init\n"
    )
    assert text(machine, "ps -p 1") == "    PID TTY          TIME CMD\n      1 ?        00:00:00 systemd\n"
    assert (
        text(machine, "ps -o pid,etime,etimes,comm 1")
        == "    PID     ELAPSED ELAPSED COMMAND\n      1       01:30      90 systemd\n"
    )
    assert text(machine, "ps -o lstart= -p 1") == "Mon Jan  5 09:00:00 2026\n"
    assert text(machine, "ps -C systemd -o args=") == "/sbin/init\n"
    assert type_line(machine, "ps a").status == 1


def test_long_values_push_the_next_column_which_makes_up_for_it(machine: Machine) -> None:
    assert text(machine, "ps -o etime:3,pid,comm -p 1") == "ELAPSED PID COMMAND\n00:00     1 systemd\n"
    assert text(machine, "ps -o comm:2,pid,user -p 1").splitlines()[1] == "sy       1 root"


def test_old_processes_show_the_day(machine: Machine) -> None:
    machine.kernel.run_for(3 * 86_400 + 5)
    assert text(machine, "ps -o stime=,etime= -p 1") == "Jan05  3-00:00:05\n"


def test_forests(machine: Machine) -> None:
    inner = 'sleep 100 & bash -c "sleep 200; true" & sleep 300; true'
    process = machine.host.start(["bash", "-c", f"bash -c '{inner}'; true"])
    machine.kernel.run_for(0.5)
    pid = process.pid
    lines = text(machine, "ps -e --forest -o args | grep -A9 '^bash -c bash'").splitlines()
    assert lines[1].startswith(" \\_ bash -c sleep 100")
    assert "     \\_ sleep 100" in lines
    assert "     |   \\_ sleep 200" in lines
    assert "     \\_ sleep 300" in lines
    assert text(machine, f"pstree -A {pid}") == "bash---bash-+-bash---sleep\n            `-2*[sleep]\n"
    assert f"bash({pid})---bash(" in text(machine, f"pstree -A -p {pid}")


def test_sorting_by_what_is_used(machine: Machine) -> None:
    async def large(ctx: Context) -> int:
        ctx.memory.use(500 << 20)
        await ctx.sleep(1e6)
        return 0

    machine.host.start(["large"], program=large)
    machine.host.start(["busy"], program=busy)
    machine.kernel.run_for(60)
    assert text(machine, "ps -eo comm --sort=-rss | head -2") == "COMMAND\nlarge\n"
    assert text(machine, "ps -eo comm --sort=-%cpu | head -2") == "COMMAND\nbusy\n"
    share = float(text(machine, "ps -C busy -o pcpu="))
    assert share == pytest.approx(50, abs=2)
    assert float(text(machine, "ps -C large -o pmem=")) == pytest.approx(6.1, abs=0.1)


def test_top_shows_the_busiest_first(machine: Machine) -> None:
    machine.host.start(["busy"], program=busy)
    machine.kernel.run_for(120)
    lines = text(machine, "top -b -n1").splitlines()
    assert lines[0].startswith("top - 09:02:00 up 2 min,  0 user,  load average: 0.")
    assert lines[1] == "Tasks:  65 total,   1 running,  64 sleeping,   0 stopped,   0 zombie"
    assert lines[6] == "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND"
    *_, share, _, minutes, name = lines[7].split()
    assert (float(share), minutes[:4], name) == (pytest.approx(50, abs=1), "1:00", "busy")
    frames = text(machine, "top -b -n3 -d 10").split("\ntop - ")
    assert len(frames) == 3
    assert type_line(machine, "top -b -n1 -o FOO").stderr == b"top: unrecognized field name 'FOO'\n"


def test_the_kernels_threads_are_listed_on_a_machine_and_ignore_signals(machine: Machine) -> None:
    machine.kernel.run_for(700)
    columns = "ps --ppid 2 -o pid=,sid=,ni=,stat=,vsz=,time=,args="
    rows = [line.split() for line in text(machine, columns).splitlines()]
    assert rows[0] == ["3", "0", "-20", "I<", "0", "00:00:00", "[rcu_gp]"]
    assert ["19", "SN", "0", "00:00:00", "[khugepaged]"] in [row[2:] for row in rows]
    ages = {row[-1]: int(text(machine, f"ps -o etimes= -p {row[0]}")) for row in rows}
    assert ages["[kthrotld]"] > 700
    assert ages["[kworker/0:0-events]"] < 500
    assert text(machine, "kill -9 3; pkill -9 rcu_gp; cat /proc/3/comm; ps -C rcu_gp -o s=") == "rcu_gp\nI\n"
    assert text(machine, "grep -c Vm /proc/3/status") == "0\n"
    assert b"rcu_gp" not in box_on(machine).run(["ps", "-e"]).stdout


def test_numbers_rise_with_the_time_at_which_workers_and_programs_began(machine: Machine) -> None:
    for _ in range(40):
        machine.kernel.run_for(17)
        machine.host.start(["sleep", "3000"])
    rows = [line.split() for line in text(machine, "ps -eo lstart=,pid=,comm= --sort=pid").splitlines()]
    late = [
        row for row in rows if row[-1] == "sleep" or row[-1].endswith(("-events", "unbound", "flush-8:0"))
    ]
    assert len(late) > 42 and len({row[5] for row in late}) == len(late)
    assert [row[3] for row in late] == sorted(row[3] for row in late)


def test_pgrep_and_pkill(machine: Machine) -> None:
    line = "sleep 100 & sleep 200 & sleep 0.1; pgrep sleep | wc -l; pgrep -n -a sleep | cut -d' ' -f2-; pkill -f '^sleep 1'; sleep 1; pgrep -c sleep; pkill sleep"
    assert text(machine, line) == "2\nsleep 200\n1\n"
    assert type_line(machine, "pgrep nosuch").status == 1


def test_signals_reach_processes_in_containers_from_outside(machine: Machine) -> None:
    box = box_on(machine)
    main = box.processes[1]
    assert box.run(["kill", "-9", "1"]).status == 0
    assert main.alive
    type_line(machine, f"/usr/bin/kill -9 {main.host_pid}")
    assert not main.alive
    assert not box.processes


def test_kill_takes_groups_and_complains_about_strangers(machine: Machine) -> None:
    done = type_line(machine, "env kill 4242; env kill x; env kill -FOO 1; env kill")
    assert done.stderr.decode().splitlines()[:3] == [
        "kill: (4242): No such process",
        "kill: failed to parse argument: 'x'",
        "",
    ]
    line = "setsid bash -c 'sleep 100 & sleep 200; true' & sleep 1; env kill -- -$(pgrep -f '^bash -c sleep'); sleep 1; pgrep -c sleep"
    assert text(machine, line) == "0\n"


def test_killall_and_pidof(machine: Machine) -> None:
    assert (
        text(
            machine,
            "sleep 100 & sleep 200 & pidof sleep | wc -w; killall sleep; sleep 1; pidof sleep; echo $?",
        )
        == "2\n1\n"
    )
    done = type_line(machine, "killall nosuch; killall -FOO x")
    assert done.stderr == b"nosuch: no process found\nFOO: unknown signal; killall -l lists signals.\n"


def test_a_stopped_process_shows_it(machine: Machine) -> None:
    assert (
        text(
            machine, "sleep 100 & kill -STOP $!; ps -o stat= -p $!; kill -CONT $!; ps -o stat= -p $!; kill $!"
        )
        == "T\nS\n"
    )


def test_lsof_lists_open_files(machine: Machine) -> None:
    rows = text(machine, "sleep 100 > out & lsof -p $!; kill $!").splitlines()
    assert rows[0].split() == ["COMMAND", "PID", "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF", "NODE", "NAME"]
    assert rows[1].split()[3:5] == ["cwd", "DIR"]
    assert rows[1].endswith(" /w")
    assert any(row.split()[3] == "1w" and row.endswith(" /w/out") for row in rows)
    assert type_line(machine, "lsof -p x").stderr.startswith(b"lsof: illegal process ID: x\n")


def test_a_command_that_was_not_found_stays_unfound(machine: Machine) -> None:
    assert type_line(machine, "nice nosuch").status == 127
    assert type_line(machine, "nice -n 5 sh -c 'exit 3'").status == 3
    assert text(machine, "stdbuf -oL echo hu") == "hu\n"


def test_threads_take_numbers_and_old_machines_have_high_ones(machine: Machine) -> None:
    async def pool(ctx: Context) -> int:
        ctx.process.threads = 40
        await ctx.sleep(1e9)
        return 0

    box = machine.create_container("box", operator_image(), address="10.1.0.5")
    box.start(["pool"], program=pool)
    machine.kernel.run_for(1)
    assert box.run(["sh", "-c", "echo $$"]).stdout == b"41\n"
    assert box.run(["ps", "-o", "stat=", "1"]).stdout == b"Ssl\n"
    machine.grow_older(30 * 86_400)
    last = int(text(machine, "cat /proc/loadavg").split()[-1])
    assert 50_000 < last < 4_194_304
    assert box.run(["sh", "-c", "echo $$"]).stdout > b"1000\n"

"""Background jobs, signals and traps in virtual time."""

from __future__ import annotations

from tests.simcloud.conftest import Shell, make_machine, type_line


def test_a_background_job_runs_beside_the_shell(shell: Shell) -> None:
    done = shell("{ sleep 2; echo late; } & echo early; wait; echo end")
    assert done.stdout == b"early\nlate\nend\n"


def test_sleeping_takes_virtual_time_only() -> None:
    machine = make_machine()
    before = machine.kernel.now
    assert type_line(machine, "sleep 3600; echo woke").stdout == b"woke\n"
    assert machine.kernel.now - before >= 3600


def test_jobs_sleep_at_the_same_time() -> None:
    machine = make_machine()
    before = machine.kernel.now
    type_line(machine, "for i in 1 2 3 4; do sleep 100 & done; wait")
    assert 100 <= machine.kernel.now - before < 101


def test_seconds_count_virtual_time(shell: Shell) -> None:
    assert shell("sleep 41; echo $SECONDS").stdout == b"41\n"


def test_the_clock_of_printf_is_the_machines(shell: Shell) -> None:
    done = shell("printf '%(%Y)T ' -1; sleep 3600; a=$EPOCHSECONDS; printf '%(%s)T\\n' -1; echo $a")
    year, stamp, epoch = done.stdout.split()
    assert year == b"2026"
    assert stamp == epoch


def test_wait_gives_the_status_of_each_job(shell: Shell) -> None:
    done = shell("(sleep 3; exit 3) & a=$!; (sleep 1; exit 4) & b=$!; wait $a; echo $?; wait $b; echo $?")
    assert done.stdout == b"3\n4\n"


def test_wait_n_takes_whichever_ends_first(shell: Shell) -> None:
    done = shell(
        "(sleep 3; exit 3) & (sleep 1; exit 4) & wait -n; echo $?; wait -n -p who; echo $? $((who > 0))"
    )
    assert done.stdout == b"4\n3 1\n"


def test_a_trap_waits_for_the_foreground_command() -> None:
    machine = make_machine()
    done = type_line(machine, "trap 'echo at $SECONDS' USR1; (sleep 1; kill -USR1 $$) & sleep 10; echo end")
    assert done.stdout == b"at 10\nend\n"


def test_wait_is_interrupted_by_a_trapped_signal(shell: Shell) -> None:
    done = shell(
        "trap 'echo trap' TERM; sleep 100 & p=$!; (sleep 1; kill $$) & wait $p; echo $? $SECONDS; kill $p"
    )
    assert done.stdout == b"trap\n143 1\n"


def test_a_terminated_shell_runs_its_exit_trap(shell: Shell) -> None:
    done = shell(
        "bash -c 'trap \"echo bye\" EXIT; sleep 100; echo never' & sleep 1; kill $!; wait $!; echo $?"
    )
    assert done.stdout == b"bye\n143\n"


def test_an_ignored_signal_stays_ignored_in_children(shell: Shell) -> None:
    done = shell("trap '' TERM; sleep 5 & kill $!; wait $!; echo $? $SECONDS")
    assert done.stdout == b"0 5\n"


def test_a_killed_program_is_announced(shell: Shell) -> None:
    done = shell("bash -c 'kill -9 $$'; echo $?")
    assert done.stdout == b"137\n"
    assert b"Killed" in done.stderr


def test_the_pipeline_ends_when_its_reader_does(shell: Shell) -> None:
    done = shell(
        "yes | head -1; echo ${PIPESTATUS[@]}; while :; do echo x; done | head -2; echo ${PIPESTATUS[@]}"
    )
    assert done.stdout == b"y\n141 0\nx\nx\n141 0\n"


def test_read_times_out_in_virtual_time(shell: Shell) -> None:
    done = shell("sleep 100 | { read -t 7 x; echo $? $SECONDS; }")
    assert done.stdout == b"142 7\n"


def test_time_measures_virtual_time(shell: Shell) -> None:
    assert b"real\t1m5.0" in shell("time sleep 65").stderr


def test_timeout_and_loops_of_a_watchdog(shell: Shell) -> None:
    done = shell(
        "(sleep 30; : > ready) & "
        "until [ -e ready ]; do sleep 5; ((++n > 20)) && break; done; echo $n $SECONDS; wait; rm ready"
    )
    assert done.stdout == b"6 30\n"


def test_the_random_numbers_are_the_worlds() -> None:
    line = "echo $RANDOM $RANDOM $SRANDOM"
    first = [type_line(make_machine(seed), line).stdout for seed in (1, 2)]
    again = [type_line(make_machine(seed), line).stdout for seed in (1, 2)]
    assert first == again
    assert first[0] != first[1]

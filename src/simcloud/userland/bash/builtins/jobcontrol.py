"""jobs, wait, kill, disown, and fg and bg as far as they work without a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.machine.process import Process, Signal
from simcloud.sim import first_of
from simcloud.userland.bash.builtins.table import BadOption, Options, builtin, usage
from simcloud.userland.bash.job import Job

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell


@builtin("jobs")
async def jobs(shell: Shell, argv: list[str]) -> int:
    """List background jobs."""
    try:
        options = Options(argv, "lnprsx")
    except BadOption as mistake:
        return await usage(shell, "jobs", str(mistake))
    status = 0
    chosen = list((shell.jobs.table or shell.jobs.inherited).values())
    if options.rest:
        chosen = []
        for spec in options.rest:
            job = shell.jobs.find(spec)
            if job is None:
                await shell.complain(f"jobs: {spec}: no such job")
                status = 1
            else:
                chosen.append(job)
    for job in chosen:
        if ("r" in options and not (job.running and not job.stopped)) or ("s" in options and not job.stopped):
            continue
        if "p" in options:
            await shell.out(f"{job.processes[0].pid}\n")
        else:
            await shell.out(shell.jobs.line(job, "l" in options))
    for job in chosen:
        if not job.running:
            shell.jobs.forget(job)
    return status


@builtin("fg", "bg")
async def foreground(shell: Shell, argv: list[str]) -> int:
    """Bring a job to the foreground, or let it run on: only with job control."""
    if not shell.state.options.get("monitor"):
        await shell.complain(f"{argv[0]}: no job control")
        return 1
    spec = argv[1] if len(argv) > 1 else "%+"
    job = shell.jobs.find(spec)
    if job is None:
        shown = "current" if spec == "%+" else spec
        await shell.complain(f"{argv[0]}: {shown}: no such job")
        return 1
    for process in job.processes:
        process.send(Signal.CONT)
    if argv[0] == "bg":
        await shell.out(f"[{job.number}]{shell.jobs.mark(job)} {job.text} &\n")
        return 0
    await shell.out(f"{job.text}\n")
    status = 0
    for process in job.processes:
        status = await process.wait()
    shell.jobs.forget(job)
    return status


@builtin("disown")
async def disown(shell: Shell, argv: list[str]) -> int:
    """Forget jobs without ending them."""
    try:
        options = Options(argv, "har")
    except BadOption as mistake:
        return await usage(shell, "disown", str(mistake))
    table = shell.jobs.table
    if not options.rest and ("a" in options or "r" in options):
        for job in list(table.values()):
            if "r" not in options or job.running:
                del table[job.number]
        return 0
    status = 0
    for spec in options.rest or ["%+"]:
        found = shell.jobs.by_pid(int(spec)) if spec.isdigit() else shell.jobs.find(spec)
        if found is None:
            await shell.complain(f"disown: {'current' if not options.rest else spec}: no such job")
            status = 1
        elif "h" not in options:
            del table[found.number]
    return status


# -- wait --------------------------------------------------------------------------------------


@builtin("wait")
async def wait(shell: Shell, argv: list[str]) -> int:
    """Wait for background processes."""
    try:
        options = Options(argv, "fnp:")
    except BadOption as mistake:
        return await usage(shell, "wait", str(mistake))
    if "p" in options:
        shell.state.unset(options.given["p"])
    if "n" in options:
        return await _wait_any(shell, options)
    if not options.rest:
        for job in list(shell.jobs.table.values()):
            for process in job.processes:
                if await shell.jobs.wait_for(process) is None:
                    return await _interrupt_status(shell)
            await shell.jobs.report_end(job)
            shell.jobs.forget(job)
        shell.jobs.statuses.clear()
        return 0
    status = 0
    for spec in options.rest:
        status = await _wait_one(shell, spec)
    if "p" in options and status != 127:
        job_or_pid = shell.jobs.find(options.rest[-1]) if options.rest[-1].startswith("%") else None
        shell.state.assign(options.given["p"], str(job_or_pid.pid) if job_or_pid else options.rest[-1])
    return status


async def _interrupt_status(shell: Shell) -> int:
    name = shell.traps.pending[0] if shell.traps.pending else "TERM"
    return 128 + Signal[name]


async def _wait_one(shell: Shell, spec: str) -> int:
    table = shell.jobs
    if spec.startswith("%"):
        job = table.find(spec)
        if job is None:
            await shell.complain(f"wait: {spec}: no such job")
            return 127
        return await _finish(shell, job, job.processes)
    if not spec.isdigit():
        await shell.complain(f"wait: `{spec}': not a pid or valid job spec")
        return 1
    pid = int(spec)
    found = table.by_pid(pid)
    if found is not None:
        return await _finish(shell, found, [process for process in found.processes if process.pid == pid])
    if pid in table.statuses:
        return table.statuses[pid]
    process = table.known.get(pid)
    if process is None:
        await shell.complain(f"wait: pid {pid} is not a child of this shell")
        return 127
    status = await table.wait_for(process)
    return await _interrupt_status(shell) if status is None else status


async def _finish(shell: Shell, job: Job, processes: list[Process]) -> int:
    status: int | None = 0
    for process in processes:
        status = await shell.jobs.wait_for(process)
        if status is None:
            return await _interrupt_status(shell)
    if not job.running:
        if not job.notified:
            await shell.jobs.report_end(job)
        shell.jobs.forget(job)
    return status or 0


async def _wait_any(shell: Shell, options: Options) -> int:
    """``wait -n``: for whichever job ends first."""
    table = shell.jobs
    candidates = list(table.table.values())
    if options.rest:
        candidates = []
        for spec in options.rest:
            job = table.by_pid(int(spec)) if spec.isdigit() else table.find(spec) if spec[:1] == "%" else None
            if job is not None:
                candidates.append(job)
            elif spec[:1] == "%" or spec.isdigit():
                await shell.complain(f"wait: {spec}: no such job")
            else:
                await shell.complain(f"wait: `{spec}': not a pid or valid job spec")
    if not candidates:
        return 127
    if all(job.running for job in candidates):
        if shell.traps.pending:
            return await _interrupt_status(shell)
        signalled = shell.traps.arrival()

        async def signal() -> int:
            await signalled.wait()
            return 0

        waits = [job.processes[-1].wait() for job in candidates]
        await first_of(shell.ctx.kernel, [*waits, signal()], f"wait-n[{shell.ctx.process.pid}]")
        if shell.traps.pending:
            return await _interrupt_status(shell)
    ended = next((job for job in candidates if not job.running), candidates[0])
    if not ended.notified:
        await table.report_end(ended)
    table.forget(ended)
    table.statuses.pop(ended.pid, None)
    if "p" in options:
        shell.state.assign(options.given["p"], str(ended.pid))
    return ended.status


# -- kill --------------------------------------------------------------------------------------


@builtin("kill")
async def kill(shell: Shell, argv: list[str]) -> int:
    """Send a signal to processes or jobs, or list the signals."""
    words = argv[1:]
    if not words:
        return await usage(shell, "kill")
    if words[0] in ("-l", "-L"):
        return await _list(shell, words[1:])
    signal: Signal | None = Signal.TERM
    zero = False
    if words[0] in ("-s", "-n"):
        if len(words) < 2:
            await shell.complain(f"kill: {words[0]}: option requires an argument")
            return 1
        text, words = words[1], words[2:]
    elif words[0] == "--":
        text, words = "TERM", words[1:]
    elif words[0].startswith("-") and len(words[0]) > 1:
        text, words = words[0][1:], words[1:]
        if words[:1] == ["--"]:
            words = words[1:]
    else:
        text = "TERM"
    if text in ("0", "EXIT"):
        zero = True
    else:
        signal = Signal.parse(text)
        if signal is None:
            await shell.complain(f"kill: {text}: invalid signal specification")
            return 1
    if not words:
        return await usage(shell, "kill")
    status = 0
    for spec in words:
        if not await _kill_one(shell, spec, None if zero else signal):
            status = 1
    return status


async def _kill_one(shell: Shell, spec: str, signal: Signal | None) -> bool:
    if spec.startswith("%"):
        job = shell.jobs.find(spec)
        if job is None:
            await shell.complain(f"kill: {spec}: no such job")
            return False
        if not job.running and shell.is_interactive:  # its process group is gone
            await shell.complain(f"kill: ({job.processes[0].pid}) - No such process")
            return False
        for process in job.processes:
            if signal is not None:
                process.send(signal)
        return True
    if not spec.lstrip("-").isdigit():
        await shell.complain(f"kill: {spec}: arguments must be process or job IDs")
        return False
    pid = int(spec)
    processes = shell.ctx.container.processes
    own = shell.ctx.process
    if pid > 0:
        visible = shell.ctx.container.visible()
        targets = [visible[pid]] if pid in visible else []
    elif pid == -1:
        targets = [process for number, process in processes.items() if number not in (1, own.pid)]
    else:
        group = own.group if pid == 0 else -pid
        targets = [process for process in processes.values() if process.group == group]
    if not targets:
        await shell.complain(f"kill: ({pid}) - No such process")
        return False
    # The sender's turn comes last: it might not survive it.
    for process in sorted(targets, key=lambda process: process is own):
        if own.uid not in (0, process.uid):
            await shell.complain(f"kill: ({process.pid}) - Operation not permitted")
            return False
        if signal is not None:  # one in a container is reached from outside
            process.send(signal, outside=process.container is not shell.ctx.container)
    return True


async def _list(shell: Shell, words: list[str]) -> int:
    if not words:
        await shell.out(signal_table())
        return 0
    status = 0
    for word in words:
        if word.isdigit():
            number = int(word) & 0x7F if int(word) > 128 else int(word)
            signal = Signal.parse(str(number))
            if signal is not None or number == 0:
                await shell.out(("EXIT" if signal is None else signal.name) + "\n")
                continue
        else:
            signal = Signal.parse(word)
            if signal is not None:
                await shell.out(f"{int(signal)}\n")
                continue
        await shell.complain(f"kill: {word}: invalid signal specification")
        status = 1
    return status


def signal_table() -> str:
    """All signals, five to a line."""
    names = {int(signal): f"SIG{signal.name}" for signal in Signal}
    names |= {34: "SIGRTMIN", 64: "SIGRTMAX"}
    names |= {34 + offset: f"SIGRTMIN+{offset}" for offset in range(1, 16)}
    names |= {64 - offset: f"SIGRTMAX-{offset}" for offset in range(1, 15)}
    cells = [f"{number:2d}) {names[number]}" for number in sorted(names)]
    rows = [cells[index : index + 5] for index in range(0, len(cells), 5)]
    return "".join("\t".join(row) + ("\n" if len(row) == 5 else "\t\n") for row in rows)

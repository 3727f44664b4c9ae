"""The state of the machine as commands show it: disks, memory, the kernel's log, mounts, and nothing of the host."""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.files import tmpfs
from simcloud.machine.process import Context, Signal
from simcloud.machine.system_services import install_services
from simcloud.userland.images import operator_image
from tests.simcloud.conftest import make_machine, type_line

MIB = 1 << 20


@pytest.fixture
def machine() -> Machine:
    return make_machine()


def text(machine: Machine, line: str) -> str:
    return type_line(machine, line).stdout.decode()


async def hungry(ctx: Context) -> int:
    """Takes 64 MiB more every second."""
    while True:
        ctx.memory.grow(64 * MIB)
        await ctx.sleep(1)


def test_df_shows_what_was_written(machine: Machine) -> None:
    before = int(text(machine, "df --output=used / | tail -1"))
    machine.host.files.write("/w/file", b"x" * 5 * MIB)
    assert int(text(machine, "df --output=used / | tail -1")) - before == 5 * 1024
    assert text(machine, "df -h /").splitlines()[1].split()[1] == "40G"
    assert text(machine, "df -i / | tail -1").split()[0] == text(machine, "df / | tail -1").split()[0]


def test_a_full_disk(machine: Machine) -> None:
    machine.host.files.mkdir("/small")
    machine.host.files.mount("/small", tmpfs(MIB, machine.clock), fstype="tmpfs", source="tmpfs")
    done = type_line(machine, "dd if=/dev/zero of=/small/f bs=1M count=2 status=noxfer; df /small | tail -1")
    assert (
        done.stderr
        == b"dd: error writing '/small/f': No space left on device\n2+0 records in\n1+0 records out\n"
    )
    assert done.stdout.split()[4:] == [b"100%", b"/small"]
    done = type_line(machine, "cp /small/f /small/g")
    assert done.stderr == b"cp: error writing '/small/g': No space left on device\n"
    done = type_line(
        machine, "rm /small/f; fallocate -l 2M /small/f; mkdir /small/d; touch /small/t; echo x > /small/t"
    )
    assert done.stderr == b"fallocate: fallocate failed: No space left on device\n"


def test_a_read_only_mount_and_its_repair(machine: Machine) -> None:
    machine.host.files.mkdir("/data")
    mount = machine.host.files.mount("/data", tmpfs(MIB, machine.clock), read_only=True, source="/dev/sdb")
    assert (
        type_line(machine, "touch /data/x").stderr
        == b"touch: cannot touch '/data/x': Read-only file system\n"
    )
    assert "/dev/sdb on /data type ext4 (ro,relatime)\n" in text(machine, "mount")
    assert "/dev/sdb /data ext4 ro,relatime 0 0\n" in text(machine, "cat /proc/mounts")
    assert type_line(machine, "mount -o remount,rw /data && touch /data/x").status == 0
    mount.volume.disk.read_only = True
    assert (
        b"cannot remount /dev/sdb read-write, is write-protected."
        in type_line(machine, "mount -o remount,rw /data").stderr
    )
    mount.volume.disk.read_only = False
    assert type_line(machine, "umount /data; umount /data").stderr == b"umount: /data: not mounted.\n"


def test_a_container_may_not_mount(machine: Machine) -> None:
    box = machine.create_container("box", operator_image(), address="10.1.0.5")
    assert box.run(["mount", "-o", "remount,ro", "/"]).stderr.startswith(b"mount: /: permission denied.\n")
    assert box.run(["umount", "/proc"]).stderr == b"umount: /proc: must be superuser to unmount.\n"
    assert box.run(["dmesg"]).stderr == b"dmesg: read kernel buffer failed: Operation not permitted\n"


def test_free_and_meminfo_follow_the_memory_in_use(machine: Machine) -> None:
    before = int(text(machine, "free -m | awk '/Mem/{print $3}'"))
    process = machine.host.start(["hungry"], program=hungry)
    machine.kernel.run_for(9.5)
    assert int(text(machine, "free -m | awk '/Mem/{print $3}'")) - before == pytest.approx(640, abs=10)
    free_kib = int(text(machine, "awk '/MemAvailable/{print $2}' /proc/meminfo"))
    assert free_kib == pytest.approx(int(text(machine, "free | awk '/Mem/{print $7}'")), abs=10_000)
    resident_kib = int(text(machine, f"awk '/VmRSS/{{print $2}}' /proc/{process.pid}/status"))
    assert resident_kib == pytest.approx(642 * 1024, abs=400)
    process.die(Signal.KILL)
    assert int(text(machine, "free -m | awk '/Mem/{print $3}'")) == pytest.approx(before, abs=2)
    assert text(machine, "free -s 1 -c 3 | grep -c Mem").strip() == "3"


def test_an_oom_kill_is_in_the_kernels_log(machine: Machine) -> None:
    box = machine.create_container("box", operator_image(), address="10.1.0.5", memory_limit_bytes=256 * MIB)
    process = box.start(["hungry"], program=hungry)
    machine.kernel.run_for(30)
    assert not process.alive
    log = text(machine, "dmesg")
    assert f"Memory cgroup out of memory: Killed process {process.host_pid} (hungry) total-vm:" in log
    assert log.startswith("[    ")
    assert text(machine, "dmesg -T").startswith("[Mon Jan  5 08:59:51 2026] Linux version")
    assert "oom_kill 1\n" in text(machine, "cat /proc/vmstat")


def test_dmesg_follows(machine: Machine) -> None:
    machine.kernel_log.clear()
    machine.kernel_log.say("first")
    machine.kernel.call_later(2.0, lambda _: machine.kernel_log.say("second"))
    assert text(machine, "timeout 5 dmesg -wt") == "first\nsecond\n"
    assert text(machine, "timeout 1 dmesg -W; dmesg -C; dmesg") == ""


def test_uptime_and_load(machine: Machine) -> None:
    machine.kernel.run_for(86_400 + 2 * 3600 + 5 * 60)
    assert text(machine, "uptime") == " 11:05:00 up 1 day,  2:05,  0 user,  load average: 0.00, 0.00, 0.00\n"
    assert text(machine, "uptime -p") == "up 1 day, 2 hours, 5 minutes\n"
    assert text(machine, "uptime -s") == "2026-01-05 08:59:51\n"
    assert text(machine, "cut -d. -f1 /proc/uptime").strip() == "93909"
    assert text(machine, "w -h; who 2>/dev/null; w | tail -1").startswith("USER     TTY")


def test_vmstat_counts_the_work_between_its_looks(machine: Machine) -> None:
    async def busy(ctx: Context) -> int:
        while True:
            await ctx.cpu(1.0)

    for _ in range(2):
        machine.host.start(["busy"], program=busy)
    machine.kernel.run_for(10)
    rows = text(machine, "vmstat 5 3").splitlines()
    assert len(rows) == 5
    user, system, idle = map(int, rows[-1].split()[12:15])
    assert (user + system, idle) == (pytest.approx(50, abs=3), pytest.approx(50, abs=3))
    assert 0 < system < user
    counts = text(machine, "head -1 /proc/stat; grep -h ctxt /proc/stat; vmstat | tail -1").split()
    ticks, switches, row = sum(map(int, counts[1:9])), int(counts[12]), counts[13:]
    assert int(row[11]) == (switches * 100 + ticks // 2) // ticks, (
        "averages since the boot are of one processor"
    )


def test_facts_of_the_kernel(machine: Machine) -> None:
    assert text(machine, "sysctl kernel.ostype; sysctl -n kernel.hostname; sysctl -N vm.swappiness") == (
        "kernel.ostype = Linux\nhost-1\nvm.swappiness\n"
    )
    done = type_line(machine, "sysctl kernel.foo; sysctl -w kernel.ostype=X; sysctl -e kernel.foo")
    assert done.stderr == (
        b"sysctl: cannot stat /proc/sys/kernel/foo: No such file or directory\n"
        b'sysctl: permission denied on key "kernel.ostype"\n'
    )
    assert "CPU(s):                                  4\n" in text(machine, "lscpu")
    assert text(machine, "nproc; getconf _NPROCESSORS_ONLN; grep -c ^processor /proc/cpuinfo") == "4\n4\n4\n"


def test_proc_has_the_reader_as_self(machine: Machine) -> None:
    assert (
        text(machine, "cat /proc/self/comm; cat /proc/self/cmdline | tr '\\0' ' '")
        == "cat\ncat /proc/self/cmdline "
    )
    assert (
        text(machine, "sleep 100 & tr '\\0' ' ' < /proc/$!/cmdline; readlink /proc/$!/cwd; kill $!")
        == "sleep 100 /w\n"
    )
    assert (
        text(machine, "A=1 B=2 sleep 100 & tr '\\0' '\\n' < /proc/$!/environ | grep -x '[AB]=.'; kill $!")
        == "A=1\nB=2\n"
    )
    assert text(machine, "sleep 100 > out & readlink /proc/$!/fd/1; kill $!") == "/w/out\n"
    assert (
        type_line(machine, "cat /proc/4242/status").stderr
        == b"cat: /proc/4242/status: No such file or directory\n"
    )
    assert text(machine, "awk '{print NF}' /proc/1/stat").strip() == "52"


def test_nothing_of_the_host_is_seen(machine: Machine, hosts_own: str) -> None:
    seen = text(
        machine,
        "env; tr '\\0' '\\n' < /proc/self/environ; hostname; hostname -f; uname -a; cat /proc/version /proc/cmdline; "
        "cat /proc/mounts; id; df -a; cat /etc/hostname /etc/hosts /proc/sys/kernel/hostname; ps aux; date; "
        "cat /proc/cpuinfo /proc/meminfo /proc/net/tcp; ip a; ls -la / /root /tmp /home",
    )
    assert hosts_own not in seen
    assert text(machine, "hostname; uname -n; hostname -I") == "host-1\nhost-1\n10.0.0.1 \n"
    assert text(machine, "date +%Y-%m-%d") == "2026-01-05\n"


def test_only_root_of_the_machine_sets_its_clock(machine: Machine) -> None:
    pod = machine.create_container("pod", operator_image(), address="10.0.0.9")
    done = pod.run(["bash", "-c", "date -s 2030-01-01; date 010100002030; date +%Y"])
    assert done.stderr == b"date: cannot set date: Operation not permitted\n" * 2
    assert done.stdout.endswith(b"2026\n")
    assert text(machine, "timedatectl 2>&1") == "Failed to connect to bus: No such file or directory\n"
    install_services(machine, ["dbus.service"])
    assert text(machine, "timedatectl | grep synchronized").endswith(": yes\n")
    assert text(
        machine,
        "date -s '2030-01-01 10:00' > /dev/null; date +%Y; date 010111302031 > /dev/null; date +%FT%H",
    ) == ("2030\n2031-01-01T11\n")
    assert text(machine, "timedatectl | grep synchronized").endswith(": no\n")


def test_accounts_come_from_the_machines_tables(machine: Machine) -> None:
    machine.host.files.write(
        "/etc/passwd", b"root:x:0:0:root:/root:/bin/bash\napp:x:1000:1000::/home/app:/bin/sh\n"
    )
    machine.host.files.write("/etc/group", b"root:x:0:\napp:x:1000:\nadm:x:4:app\n")
    assert text(machine, "id app; groups app; id -Gn app") == (
        "uid=1000(app) gid=1000(app) groups=1000(app),4(adm)\napp : app adm\napp adm\n"
    )
    assert (
        text(machine, "touch f; chown app:adm f; stat -c '%U %G' f; ls -l f | cut -d' ' -f3,4")
        == "app adm\napp adm\n"
    )
    done = machine.host.start(["whoami"], uid=4242)
    machine.kernel.run_for(1)
    assert done.status == 1

"""The busybox image speaks as busybox does."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.images.busybox.messages import reword
from tests.simcloud.kubernetes.kubelet.world import World


@pytest.mark.parametrize(
    ("ours", "busybox"),
    [
        ("cat: /x: No such file or directory\n", "cat: can't open '/x': No such file or directory\n"),
        ("cat: /: Is a directory\n", "cat: read error: Is a directory\n"),
        ("ls: cannot access '/x': No such file or directory\n", "ls: /x: No such file or directory\n"),
        ("rm: cannot remove '/x': No such file or directory\n", "rm: can't remove '/x': No such file or directory\n"),
        ("mkdir: cannot create directory '/tmp': File exists\n", "mkdir: can't create directory '/tmp': File exists\n"),
        ("mv: cannot stat '/x': No such file or directory\n", "mv: can't rename '/x': No such file or directory\n"),
        ("tar: Removing leading `/' from member names\n", "tar: removing leading '/' from member names\n"),
        ("sh: line 1: nosuch: command not found\n", "sh: line 0: nosuch: not found\n"),
        ("something else: altogether\n", "something else: altogether\n"),
    ],
)  # fmt: skip
def test_complaints_are_reworded(ours: str, busybox: str) -> None:
    assert reword(ours) == busybox


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("cat /nosuch", "cat: can't open '/nosuch': No such file or directory\n"),
        ("wget -qO- -T 3 http://127.0.0.1:81/", "wget: can't connect to remote host (127.0.0.1): Connection refused\n"),
        ("wget -O- http://127.0.0.1:81/", "Connecting to 127.0.0.1:81 (127.0.0.1:81)\nwget: can't connect to remote host"
         " (127.0.0.1): Connection refused\n"),
        ("nc -zv 127.0.0.1 81; nc -zvv 127.0.0.1 81", "nc: 127.0.0.1 (127.0.0.1:81): Connection refused\n"),
        ("nc -l -p 80 & sleep 1; nc -zv -w 2 localhost 80", "localhost (127.0.0.1:80) open\n"),
        ("nc -Z 127.0.0.1 80 2>&1 | sed -n '1p;4p'", "nc: invalid option -- 'Z'\nUsage: nc [OPTIONS] HOST PORT  - connect\n"),
        ("cd /tmp; echo 12345 > f; ln -s f l; ls -l | sed 's/... .. ..:../DATE/'",
         "total 4\n-rw-r--r--    1 root     root             6 DATE f\n"
         "lrwxrwxrwx    1 root     root             1 DATE l -> f\n"),
        ("ls -Z 2>&1 | sed -n '1p;4p'", "ls: invalid option -- 'Z'\nUsage: ls [-1AaCxdLHRFplinshrSXvctu] [-w WIDTH] [FILE]...\n"),
        ("ls -dnhi /dev | cut -c8-50", " drwxr-xr-x    5 0        0            320 \n"),
        ("ls -l /dev/null | cut -c1-44; ls -lh /dev/shm", "crw-rw-rw-    1 root     root        1,   3 \ntotal 0\n"),
        ("ps | head -n 1", "PID   USER     COMMAND\n"),
        ("nosuch", "sh: line 0: nosuch: not found\n"),
    ],
)  # fmt: skip
def test_what_a_container_of_the_image_prints(line: str, printed: str) -> None:
    world = World()
    world.run("shell", "sh", "-c", line, restartPolicy="Never")
    world.kernel.run_for(10)
    assert world.logs("shell") == printed

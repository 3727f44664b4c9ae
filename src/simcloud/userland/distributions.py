"""Linux distributions that images are built on: what they say about themselves, their accounts and their commands.

An image has the commands of its distribution's minimal image and those of the packages that its Dockerfile installs, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from simcloud.machine import Image
from simcloud.machine.process import Program
from simcloud.userland.commands import all_commands

_ESSENTIAL: Final = (
    "[ awk base64 basename bash cat chgrp chmod chown chroot cmp comm cp cut date dd df diff dirname dmesg du echo egrep env expr "
    "fallocate false fgrep find fold getconf getent grep groups gunzip gzip head hostname id ln ls lscpu mawk md5sum mkdir mkfifo "
    "mktemp more mount mv nawk nice nohup nproc nsenter paste pidof printenv printf pwd rbash readlink realpath rev rgrep rm rmdir "
    "sed seq service setsid sh sha1sum sha256sum sha512sum sleep sort stat stdbuf sync tac tail tar tee test timeout touch tr true "
    "truncate tty umount uname uniq wc which whoami xargs yes zcat"
)
"""The commands of the essential packages of Debian and Ubuntu, which their minimal images have."""

PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "curl": ("curl",),
    "file": ("file",),
    "gettext-base": ("envsubst",),
    "jq": ("jq",),
    "openssh-client": ("ssh",),
    "openssl": ("openssl",),
    "procps": ("free", "kill", "pgrep", "pkill", "ps", "sysctl", "top", "uptime", "vmstat", "w", "watch"),
    "wget": ("wget",),
}
"""Commands of the packages that images install."""

ACCOUNTS: Final = (
    ("daemon", 1, 1, "/usr/sbin"), ("bin", 2, 2, "/bin"), ("sys", 3, 3, "/dev"), ("sync", 4, 65534, "/bin"),
    ("games", 5, 60, "/usr/games"), ("man", 6, 12, "/var/cache/man"), ("lp", 7, 7, "/var/spool/lpd"), ("mail", 8, 8, "/var/mail"),
    ("news", 9, 9, "/var/spool/news"), ("uucp", 10, 10, "/var/spool/uucp"), ("proxy", 13, 13, "/bin"),
    ("www-data", 33, 33, "/var/www"), ("backup", 34, 34, "/var/backups"), ("list", 38, 38, "/var/list"),
    ("irc", 39, 39, "/run/ircd"), ("gnats", 41, 41, "/var/lib/gnats"), ("nobody", 65534, 65534, "/nonexistent"),
    ("_apt", 100, 65534, "/nonexistent"),
)  # fmt: skip
GROUPS: Final = (
    "root:x:0: daemon:x:1: bin:x:2: sys:x:3: adm:x:4: tty:x:5: disk:x:6: lp:x:7: mail:x:8: news:x:9: uucp:x:10: man:x:12: "
    "proxy:x:13: kmem:x:15: cdrom:x:24: floppy:x:25: audio:x:29: backup:x:34: list:x:38: irc:x:39: src:x:40: gnats:x:41: "
    "shadow:x:42: utmp:x:43: video:x:44: staff:x:50: games:x:60: users:x:100: nogroup:x:65534:"
)


class Distribution(NamedTuple):
    """A release of Debian or Ubuntu: its files in ``/etc``, and packages of its minimal image beyond the essential ones."""

    files: Mapping[str, str]
    packages: tuple[str, ...] = ()


def _describe_debian(version: str, codename: str, point: str) -> Distribution:
    release = (
        f'PRETTY_NAME="Debian GNU/Linux {version} ({codename})"\nNAME="Debian GNU/Linux"\nVERSION_ID="{version}"\n'
        f'VERSION="{version} ({codename})"\nVERSION_CODENAME={codename}\nID=debian\nHOME_URL="https://www.debian.org/"\n'
        'SUPPORT_URL="https://www.debian.org/support"\nBUG_REPORT_URL="https://bugs.debian.org/"\n'
    )
    issue = f"Debian GNU/Linux {version} \\n \\l\n\n"
    return Distribution(
        {"/etc/os-release": release, "/etc/debian_version": f"{point}\n", "/etc/issue": issue}
    )


def _describe_ubuntu(version: str, point: str, codename: str, animal: str, debian: str) -> Distribution:
    scheme = "https" if version >= "18" else "http"
    privacy = 'PRIVACY_POLICY_URL="https://www.ubuntu.com/legal/terms-and-policies/privacy-policy"\n'
    release = (
        f'NAME="Ubuntu"\nVERSION="{point} LTS ({codename.capitalize()} {animal})"\nID=ubuntu\nID_LIKE=debian\n'
        f'PRETTY_NAME="Ubuntu {point} LTS"\nVERSION_ID="{version}"\nHOME_URL="{scheme}://www.ubuntu.com/"\n'
        f'SUPPORT_URL="{scheme}://help.ubuntu.com/"\nBUG_REPORT_URL="{scheme}://bugs.launchpad.net/ubuntu/"\n'
        f"{privacy if scheme == 'https' else ''}VERSION_CODENAME={codename}\nUBUNTU_CODENAME={codename}\n"
    )
    lsb = f'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE={version}\nDISTRIB_CODENAME={codename}\nDISTRIB_DESCRIPTION="Ubuntu {point} LTS"\n'
    files = {"/etc/os-release": release, "/etc/lsb-release": lsb, "/etc/debian_version": f"{debian}/sid\n"}
    return Distribution({**files, "/etc/issue": f"Ubuntu {point} LTS \\n \\l\n\n"}, ("procps",))


XENIAL: Final = _describe_ubuntu("16.04", "16.04.7", "xenial", "Xerus", "stretch")
BIONIC: Final = _describe_ubuntu("18.04", "18.04.5", "bionic", "Beaver", "buster")
BUSTER: Final = _describe_debian("10", "buster", "10.9")
BULLSEYE: Final = _describe_debian("11", "bullseye", "11.11")


def build_image(
    name: str,
    distribution: Distribution,
    programs: Mapping[str, Program],
    *,
    packages: tuple[str, ...] = (),
    account: tuple[str, int] | None = None,
    files: Mapping[str, bytes] | None = None,
    owned: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
    entrypoint: tuple[str, ...] = (),
) -> Image:
    """Build an image on a distribution, with more packages and programs. The paths in ``owned`` belong to its own account."""
    wanted = set(_ESSENTIAL.split())
    for package in (*distribution.packages, *packages):
        wanted.update(PACKAGES[package])
    commands = {command: program for command, program in all_commands().items() if command in wanted}
    passwd = "root:x:0:0:root:/root:/bin/bash\n" + "".join(
        f"{user}:x:{uid}:{gid}:{'' if user == '_apt' else user}:{home}:{'/bin/sync' if user == 'sync' else '/usr/sbin/nologin'}\n"
        for user, uid, gid, home in ACCOUNTS
    )
    group = "".join(f"{line}\n" for line in GROUPS.split())
    owners: dict[str, int] = {}
    if account is not None:
        user, uid = account
        passwd += f"{user}:x:{uid}:{uid}::/home/{user}:/bin/sh\n"
        group += f"{user}:x:{uid}:\n"
        owners = dict.fromkeys(owned, uid)
    system = {
        "/etc/passwd": passwd,
        "/etc/group": group,
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        **distribution.files,
    }
    return Image(
        name,
        {**commands, **programs},
        files=files,
        env=env,
        entrypoint=entrypoint,
        system_files=system,
        owners=owners,
    )

"""Images of operators for diagnosis and load: a toolbox, small systems, stress."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.kubernetes.images.busybox import busybox_image
from simcloud.kubernetes.images.registry import ImageRegistry
from simcloud.machine import Image
from simcloud.machine.process import Context
from simcloud.userland import operator_image
from simcloud.userland.commands import all_commands, net

NOT_IN_STRESS: Final = (
    "curl", "jq", "dig", "host", "tc", "iptables", "systemctl", "journalctl", "crictl", "ssh",
)  # fmt: skip
TOOLBOXES: Final = ("debian:12", "debian:latest")
ALPINE: Final = {
    "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.3\nPRETTY_NAME="Alpine Linux v3.20"\n'
    'HOME_URL="https://alpinelinux.org/"\nBUG_REPORT_URL="https://gitlab.alpinelinux.org/alpine/aports/-/issues"\n',
    "/etc/alpine-release": "3.20.3\n",
    "/etc/issue": "Welcome to Alpine Linux 3.20\nKernel \\r on an \\m (\\l)\n\n",
}
JAMMY: Final = {
    "/etc/os-release": 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\nNAME="Ubuntu"\nVERSION_ID="22.04"\n'
    'VERSION="22.04.5 LTS (Jammy Jellyfish)"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=jammy\n',
    "/etc/debian_version": "bookworm/sid\n",
    "/etc/issue": "Ubuntu 22.04.5 LTS \\n \\l\n\n",
}
CURL_TAGS: Final = ("latest", "8.8.0", "8.10.1", "7.88.1")


@cache
def stress_image() -> Image:
    """A small system with stress and stress-ng on it."""
    programs = {name: program for name, program in all_commands().items() if name not in NOT_IN_STRESS}
    return Image("stress", programs)


@cache
def ubuntu_image() -> Image:
    """Ubuntu with the commands of a toolbox."""
    return operator_image().derive("ubuntu", JAMMY)


@cache
def netshoot_image() -> Image:
    """The network tools of netshoot, on Alpine."""
    return operator_image().derive("netshoot", ALPINE, {"tcpdump": _run_tcpdump})


async def _run_tcpdump(ctx: Context) -> int | None:
    return await net.tcpdump(ctx)  # loaded on first use


@cache
def alpine_image() -> Image:
    """Alpine, whose commands are busybox's."""
    return busybox_image().derive("alpine", ALPINE)


@cache
def curl_image() -> Image:
    """The image of the curl project: Alpine with curl as its entry point."""
    files = {
        **ALPINE,
        "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\ncurl_user:x:100:101:Linux User:/home/curl_user:/bin/sh\n",
    }
    return busybox_image().derive("curl", files, {"curl": all_commands()["curl"]}, ("curl",))


def add_tools(registry: ImageRegistry) -> None:
    """Publish them."""
    for reference in TOOLBOXES:
        registry.add(reference, operator_image(), args=("bash",))
    for tag in ("22.04", "latest"):
        registry.add(f"ubuntu:{tag}", ubuntu_image(), args=("bash",), size_bytes=29_536_818)
    registry.add("nicolaka/netshoot:latest", netshoot_image(), args=("bash",), size_bytes=202_817_406)
    for tag in ("3.20", "latest"):
        registry.add(f"alpine:{tag}", alpine_image(), args=("sh",), size_bytes=3_623_807)
    for tag in CURL_TAGS:
        registry.add(f"curlimages/curl:{tag}", curl_image(), user="100:101", size_bytes=9_264_518)
    for reference in ("polinux/stress:latest", "polinux/stress:1.0.4", "alexeiled/stress-ng:latest"):
        args = ("stress-ng",) if "ng" in reference else ()
        registry.add(reference, stress_image(), args=args)

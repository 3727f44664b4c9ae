"""Images: a root filesystem and the programs that go with it, ready to be unpacked many times.

An image is built once; each container gets a copy-on-write clone, which costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Final
from zlib import crc32

from simcloud.machine.files import Directory, Disk, Files, Regular, Volume
from simcloud.machine.files.content import Content
from simcloud.machine.process import BINARY, Program

FOLDERS: Final = (
    "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/srv", "/sys", "/usr",
    "/usr/bin", "/usr/lib", "/usr/local", "/usr/local/bin", "/usr/sbin", "/usr/share", "/var", "/var/cache", "/var/lib",
    "/var/log", "/var/run", "/var/spool", "/var/tmp",
)  # fmt: skip

BASE_FILES: Final = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\n"
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\ndaemon:x:1:\ndisk:x:6:\nwww-data:x:33:\nnogroup:x:65534:\n",
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\n'
    'VERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n',
    "/etc/debian_version": "12.12\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "/root/.bashrc": "# settings of interactive shells\n\n# umask 022\n# alias ll='ls -l'\n",
    "/root/.profile": '# settings of login shells\n\nif [ "$BASH" ] && [ -f ~/.bashrc ]; then\n  . ~/.bashrc\nfi\n',
    **dict.fromkeys(("/var/lib/apt/lists/", "/var/lib/dpkg/info/", "/var/lib/misc/", "/var/lib/pam/", "/var/lib/systemd/",
                     "/var/log/apt/history.log", "/var/log/alternatives.log", "/var/log/btmp", "/var/log/dpkg.log",
                     "/var/log/faillog", "/var/log/lastlog", "/var/log/wtmp"), ""),
}  # fmt: skip


BUILT_S: Final = {"mongo": 1_624_468_931.0}
"""When images of old releases were built."""


class Image:
    """A named root filesystem with programs on its PATH and a default environment."""

    def __init__(
        self,
        name: str,
        programs: Mapping[str, Program],
        *,
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        entrypoint: Iterable[str] = (),
        system_files: Mapping[str, str] = BASE_FILES,
        owners: Mapping[str, int] | None = None,
    ) -> None:
        """``system_files`` identify the distribution; a path of ``files`` that ends with ``/`` is a folder."""
        self.name = name
        self.programs = dict(programs)
        self.env = dict(env or {})
        self.entrypoint = list(entrypoint)
        built_s = _build_time(name)
        self._volume = Volume(Disk(f"image {name}", capacity_bytes=1 << 40), lambda: built_s, name=name)
        self._fill(Files(self._volume), system_files, files or {})
        for path, uid in (owners or {}).items():
            Files(self._volume).chown(path, uid, uid)

    def unpack(self, disk: Disk, clock: Callable[[], float], name: str) -> Volume:
        """A copy of the image on a machine's disk; what the container changes is its own."""
        return self._volume.clone(name, disk=disk, clock=clock)

    def running(self, programs: Mapping[str, Program]) -> Image:
        """The same files, with other programs behind the same names: nothing is built again."""
        assert programs.keys() == self.programs.keys()
        image = copy(self)
        image.programs = dict(programs)
        return image

    def derive(
        self,
        name: str,
        files: Mapping[str, str],
        programs: Mapping[str, Program] | None = None,
        entrypoint: Iterable[str] = (),
    ) -> Image:
        """An image with some other files and further programs; the rest is shared and not built again."""
        image = copy(self)
        image.name, image.entrypoint = name, list(entrypoint)
        image.programs = {**self.programs, **(programs or {})}
        image._volume = self._volume.clone(name)
        root = Files(image._volume)
        for path, text in files.items():
            root.put(path, text.encode())
        for program in programs or ():
            root.write(f"/usr/bin/{program}", BINARY + program.encode(), mode=0o755)
        return image

    def _fill(self, root: Files, system: Mapping[str, str], extra: Mapping[str, bytes]) -> None:
        for folder in FOLDERS:
            root.mkdir(folder, 0o755)
        root.symlink("usr/bin", "/bin")
        root.symlink("usr/sbin", "/sbin")
        root.symlink("usr/lib", "/lib")
        root.mkdir("/tmp")
        root.chmod("/tmp", 0o1777)
        root.chmod("/root", 0o700)
        self._add_binaries(root)
        # Images of a single Go program often have it in their root.
        start = self.entrypoint[0] if self.entrypoint else ""
        program = start.rpartition("/")[2]
        if start.startswith("/") and program in self.programs and not root.exists(start):
            root.write(start, BINARY + program.encode(), mode=0o755)
        for path, data in {**{path: text.encode() for path, text in system.items()}, **extra}.items():
            if path.endswith("/"):
                root.mkdir(path, 0o755, parents=True)
            else:
                root.put(path, data)

    def _add_binaries(self, root: Files) -> None:
        """Write the file of every program. Most files of an image are of this kind: no path is followed for each."""
        volume = self._volume
        directory = root.find("/usr/bin")[1]
        assert isinstance(directory, Directory)
        for name in self.programs:
            assert "/" not in name
            file = Regular(Content(None), 0o755)
            volume.create(directory, name, file)
            volume.write(file, 0, BINARY + name.encode())


def _build_time(name: str) -> float:
    """When an image was built: some time in the six weeks before 2025-10-21, unless that is known."""
    return BUILT_S.get(name) or 1_761_057_472.0 - crc32(name.encode()) % (42 * 86_400)

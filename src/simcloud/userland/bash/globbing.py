"""Pathname expansion: the files that match a pattern, in byte order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simcloud.machine.files import FileError, Files
from simcloud.userland.bash.patterns import compile_pattern, is_active, unescape

MAX_DEPTH = 64


def expand_glob(
    pattern: str, files: Files, options: Mapping[str, bool], spend: Callable[[int], None]
) -> list[str]:
    """Paths that match; none when nothing does."""
    walk = _Walk(files, options, spend)
    start = ""
    rest = pattern
    if pattern.startswith("/"):
        rest = pattern.lstrip("/")
        start = pattern[: len(pattern) - len(rest)]
    walk.step(start, rest.split("/"), 0)
    return sorted(walk.found, key=lambda path: path.encode("utf-8", "surrogateescape"))


class _Walk:
    def __init__(self, files: Files, options: Mapping[str, bool], spend: Callable[[int], None]) -> None:
        self.files = files
        self.extglob = options.get("extglob", False)
        self.globstar = options.get("globstar", False)
        self.dotglob = options.get("dotglob", False)
        self.nocase = options.get("nocaseglob", False)
        self.skips_dots = options.get("globskipdots", True)
        self.spend = spend
        self.found: list[str] = []

    def step(self, base: str, components: list[str], depth: int) -> None:
        """Match the first component in the folder ``base``, and the others below what it matched."""
        component, rest = components[0], components[1:]
        if depth > MAX_DEPTH:
            return
        if not is_active(component, self.extglob):
            self._literal(base, unescape(component), rest, depth)
        elif self.globstar and component == "**":
            if not rest and base:
                self.found.append(base)
            self._any_depth(base, rest, depth)
        else:
            matches = compile_pattern(component, self.extglob, self.nocase).matches
            for name in self._names(base, component.startswith((".", "\\."))):
                if matches(name):
                    self._enter(base + name, rest, depth)

    def _literal(self, base: str, name: str, rest: list[str], depth: int) -> None:
        path = base + name
        if rest:
            if name == "" or self._is_dir(path, depth):
                self.step(path + "/", rest, depth + 1)
        elif (
            (self.files.node_kind(path, follow=False) is not None) if name else self.files.is_dir(path or ".")
        ):
            self.found.append(path)

    def _enter(self, path: str, rest: list[str], depth: int) -> None:
        if not rest:
            self.found.append(path)
        elif self._is_dir(path, depth):
            self.step(path + "/", rest, depth + 1)

    def _is_dir(self, path: str, depth: int) -> bool:
        """Looking a path up takes longer the deeper it lies, and ``/proc/*/root`` leads back to the top."""
        self.spend(1 + depth)
        return self.files.is_dir(path)

    def _any_depth(self, base: str, rest: list[str], depth: int) -> None:
        if rest and (rest != [""] or base):
            self.step(base, rest, depth + 1)
        for name in self._names(base, False):
            path = base + name
            if not rest:
                self.found.append(path)
            self.spend(1 + depth)
            if self.files.node_kind(path, follow=False) == "directory":
                self._any_depth(path + "/", rest, depth + 1)

    def _names(self, base: str, hidden: bool) -> list[str]:
        try:
            names = self.files.listdir(base or ".")
        except FileError:
            return []
        self.spend(1 + len(names) // 16)
        if hidden or self.dotglob:
            return names if self.skips_dots else [".", "..", *names]
        return [name for name in names if not name.startswith(".")]

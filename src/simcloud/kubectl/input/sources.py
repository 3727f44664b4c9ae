"""Keys and values on the command line: ``--from-file`` and its relatives, and arguments KEY=VALUE and KEY-."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubernetes.api.validation import describe_form
from simcloud.machine.files import FileError

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl


Pairs = list[tuple[str, bytes]]

ENV_NAME: Final = "[-._a-zA-Z][-._a-zA-Z0-9]*"
BAD_ENV_NAME: Final = describe_form(
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit",
    ENV_NAME,
    "my.env-name",
    "MY_ENV.NAME",
    "MyEnvName1",
)


async def gather_pairs(kubectl: Kubectl) -> Pairs:
    """Gather the pairs that the flags name, in the order in which they are added."""
    flags = kubectl.flags
    files, literals = flags.get("from-file") or [], flags.get("from-literal") or []
    env_files = flags.get("from-env-file") or []
    if env_files and (files or literals):
        raise KubectlError("from-env-file cannot be combined with from-file or from-literal")
    found: Pairs = []
    for said in files:
        found.extend(await _from_file(kubectl, said))
    found.extend(_literal(said) for said in literals)
    for path in env_files:
        found.extend(await _from_env_file(kubectl, path))
    return found


async def _from_file(kubectl: Kubectl, said: str) -> Pairs:
    key, path = _file_source(said)
    files = kubectl.ctx.files
    try:
        if not files.is_dir(path):
            return [(key, await kubectl.ctx.read_file(path))]
        if "=" in said:
            raise KubectlError("cannot give a key name for a directory path")
        entries = sorted(files.listdir(path))
        return [
            (entry, files.read(f"{path}/{entry}")) for entry in entries if not files.is_dir(f"{path}/{entry}")
        ]
    except FileError as error:
        raise KubectlError(_unreadable(path, error)) from None


def _file_source(said: str) -> tuple[str, str]:
    """Key and path of ``[key=]path``."""
    if "=" not in said:
        return said.rstrip("/").rpartition("/")[2], said
    if said.count("=") > 1:
        raise KubectlError("key names or file paths cannot contain '='")
    key, _, path = said.partition("=")
    if not key:
        raise KubectlError(f"key name for file path {path} missing")
    if not path:
        raise KubectlError(f"file path for key name {key} missing")
    return key, path


def _literal(said: str) -> tuple[str, bytes]:
    key, equals, value = said.partition("=")
    if not key or not equals:
        raise KubectlError(f"invalid literal source {said}, expected key=value")
    return key, value.encode()


async def _from_env_file(kubectl: Kubectl, path: str) -> Pairs:
    files = kubectl.ctx.files
    try:
        if files.is_dir(path):
            raise KubectlError("env config file cannot be a directory")
        data = await kubectl.ctx.read_file(path)
    except FileError as error:
        raise KubectlError(_unreadable(path, error)) from None
    return env_pairs(data, path, dict(kubectl.ctx.env))


def env_pairs(data: bytes, path: str, environment: dict[str, str]) -> Pairs:
    """The variables of a file of lines ``NAME=value``; a name alone takes its value from the environment."""
    found: Pairs = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            line = raw.decode().lstrip()
        except UnicodeDecodeError:
            raise KubectlError(
                f"env file {path} contains invalid utf8 bytes at line {number}: {list(raw)}".replace(",", "")
            ) from None
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not re.fullmatch(ENV_NAME, key):
            raise KubectlError(f'"{key}" is not a valid key name: {BAD_ENV_NAME}')
        found.append((key, (value if equals else environment.get(key, "")).encode()))
    return found


def _unreadable(path: str, error: FileError) -> str:
    return f"error reading {path}: {error.strerror.lower()}"


def is_pair(word: str) -> bool:
    """Whether a word sets or removes something; a single dash is standard input."""
    return ("=" in word and word[0] != "=") or (word.endswith("-") and word != "-")


def split_pairs(args: list[str], what: str) -> tuple[list[str], list[str]]:
    """The words that name objects, and those after them that change something."""
    first = next((place for place, word in enumerate(args) if is_pair(word)), len(args))
    for word in args[first:]:
        if not is_pair(word):
            raise KubectlError(f"all resources must be specified before {what} changes: {word}")
    return args[:first], args[first:]


def read_pairs(words: list[str], what: str, *, removing: bool = True) -> tuple[dict[str, str], list[str]]:
    """What is set to which value, and what is removed."""
    values: dict[str, str] = {}
    removed: list[str] = []
    wrong: list[str] = []
    for word in words:
        if "=" in word and word[0] != "=":
            key, _, values[key] = word.partition("=")
        elif removing and word.endswith("-") and word != "-":
            removed.append(word[:-1])
        else:
            wrong.append(word)
    if wrong:
        raise KubectlError(f"invalid {what} format: {', '.join(wrong)}")
    return values, removed

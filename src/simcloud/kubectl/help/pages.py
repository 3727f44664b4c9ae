"""Help pages: our texts in the layout of the genuine tool."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import ROOT, Command, facts
from simcloud.kubectl.flags import Flag
from simcloud.kubectl.help.texts import FLAGS, GROUPS

OPTIONS: Final = (
    'Use "kubectl options" for a list of global command-line options (applies to all commands).\n'
)


def help_of(command: Command) -> str:
    """The help text of a command."""
    if command is ROOT:
        return _root()
    parts = [f"{command.summary}.\n"]
    if command.examples:
        parts.append("Examples:\n" + "".join(f"  {line}\n" for line in command.examples))
    if command.below:
        parts.append(
            f"Available Commands:\n{_list_commands([command.below[name] for name in sorted(command.below)])}"
        )
    flags = command.flags()
    if flags:
        parts.append("Options:\n" + "\n".join(format_flag(flag) for flag in flags))
    parts.append(f"Usage:\n  {command.usage}\n")
    if command.below:
        below = f'Use "{command.full} <command> --help" for more information about a given command.\n'
        parts.append(below + OPTIONS)
    else:
        parts.append(OPTIONS)
    return "\n".join(parts)


def options_text() -> str:
    """What ``kubectl options`` prints."""
    flags = [Flag(*flag) for flag in facts()["options"]["flags"]]
    return "The following options can be passed to any command:\n\n" + "\n".join(map(format_flag, flags))


def format_flag(flag: Flag) -> str:
    """Format a flag with its default and purpose."""
    short = f"-{flag.shorthand}, " if flag.shorthand else ""
    default = f"'{flag.default}'" if flag.kind == "string" else flag.default
    if flag.kind in ("slice", "array"):
        default = f"[{flag.default}]"
    return f"    {short}--{flag.name}={default}:\n\t{FLAGS.get(flag.name, '')}\n"


def usage_of(command: Command) -> str:
    """The help of the root without its first words."""
    return help_of(command).partition("\n\n")[2]


def _root() -> str:
    parts = ["kubectl operates a Kubernetes cluster.\n"]
    for title, names in GROUPS.items():
        shown = [ROOT.below[name] for name in names if name in ROOT.below]
        if shown:
            parts.append(f"{title}:\n{_list_commands(shown)}")
    parts.append("Usage:\n  kubectl [flags] [options]\n")
    parts.append('Use "kubectl <command> --help" for more information about a given command.\n' + OPTIONS)
    return "\n".join(parts)


def _list_commands(commands: list[Command]) -> str:
    width = max(*(len(command.name) for command in commands), 11) + 2
    return "".join(f"  {command.name:<{width}} {command.summary}\n" for command in commands)

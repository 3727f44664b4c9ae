"""Builtins: commands that run inside the shell because they change or read its state."""

from importlib import import_module

for _module in (
    "aliases", "declarations", "directories", "flow", "jobcontrol", "limits", "lookup", "options", "output", "read",
    "trap", "variables",
):  # fmt: skip
    import_module(f"{__name__}.{_module}")

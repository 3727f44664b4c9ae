"""stress and stress-ng: programs that load a machine on purpose."""

from simcloud.userland.commands.system.stress import command as command, stress_ng as stress_ng

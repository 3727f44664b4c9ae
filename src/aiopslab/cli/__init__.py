"""The command line ``aiopslab``."""

from aiopslab.cli.main import main as main

"""The command line ``aiopslab``."""

from aiopslab.cli.main import main

__all__ = ["main"]

"""jq, written here: a reader of JSON, a parser and a compiler of the language, and the machine that runs it.

Importing the package registers the command.
"""

from simcloud.userland.jq.command import jq

__all__ = ["jq"]

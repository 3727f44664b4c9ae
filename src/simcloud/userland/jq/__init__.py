"""jq: a JSON reader, a parser and compiler for the language, and the machine that runs programs.

Importing the package registers the command.
"""

from simcloud.userland.jq.command import jq as jq

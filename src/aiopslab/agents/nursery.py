"""The process that forks agents in Python (``start_nursery``): it has imported our agents, and those of no one else.

Modules of other packages and of users are agents' code, which runs only in the limited process of an agent.
"""

from __future__ import annotations

import socket
import sys

from aiopslab.agents.registry import GROUP
from aiopslab.utils import import_folder, list_extensions


def main() -> None:
    """Import what agents need, and fork them. The argument is the descriptor of the socket with the requests."""
    from aiopslab.orchestrator import serve_nursery  # an agent's own process does not need it

    import_folder("aiopslab.agents")
    list_extensions(GROUP)  # reads the files of all installed packages, and loads none of them
    serve_nursery(socket.socket(fileno=int(sys.argv[1])))

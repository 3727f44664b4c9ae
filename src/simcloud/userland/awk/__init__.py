"""Awk: a whole interpreter for the language, as a program on simulated machines.

From the outside in: ``command`` reads the command line; ``lexer``, ``expressions`` and ``parser`` make a
tree; ``analysis`` finds what may wait and which names are arrays; the ``*_code`` modules compile the tree
to Python functions; ``interpreter`` runs them over ``records``. It is our own so that it streams, runs its
commands in our shell and in virtual time, and stops at the same count every time.

The measure is gawk 5.2. What differs is listed in ``docs/differences/awk.md``.
"""

from simcloud.userland.awk.command import awk

__all__ = ["awk"]

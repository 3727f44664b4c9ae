"""The end of standard output: what was printed is written out while there is still somebody to tell that it cannot be.

Left to the interpreter, a reader who has gone (``| head``) or a full disk shows as a traceback after the last line.
"""

from __future__ import annotations

import os
import sys


def write_out() -> None:
    """Write out what is left; where that cannot be, say why (but not to a reader who has gone) and exit with 1."""
    try:
        if sys.stdout is not None:  # closed by whoever started us
            sys.stdout.flush()
    except OSError as error:
        discard()
        if not isinstance(error, BrokenPipeError):
            print(f"Standard output cannot be written to: {error.strerror}.", file=sys.stderr)
        raise SystemExit(1) from None


def discard() -> None:
    """Write nothing more, not even what is left when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)

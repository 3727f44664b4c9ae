"""Flush standard output before the interpreter exits. Separate from ``output``, because ``--help`` must not import rich.

Left to the interpreter, a closed pipe (``| head``) or a full disk shows as a traceback after the last line.
"""

from __future__ import annotations

import os
import sys


def flush_output() -> None:
    """Flush standard output; if that fails, exit with 1 and an error message (none for a closed pipe)."""
    try:
        if sys.stdout is not None:  # the parent process may have closed it
            sys.stdout.flush()
    except OSError as error:
        discard_output()
        if not isinstance(error, BrokenPipeError):
            print(f"Cannot write to standard output: {error.strerror}.", file=sys.stderr)
        raise SystemExit(1) from None


def discard_output() -> None:
    """Redirect standard output to /dev/null, so that the interpreter's own flush at exit cannot fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)

"""The predefined variables and their slots.

All global variables live in one list. The predefined ones have the first slots, so that the interpreter reaches them
by number. Assigning to some of them changes how the interpreter works.
"""

from __future__ import annotations

from typing import Final

PREDEFINED: Final = (
    "NR", "FNR", "NF", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH", "RT", "CONVFMT",
    "OFMT", "IGNORECASE", "ARGC", "ERRNO", "ARGV", "ENVIRON", "PROCINFO",
)  # fmt: skip

SLOTS: Final = {name: slot for slot, name in enumerate(PREDEFINED)}
PREDEFINED_ARRAYS: Final = frozenset(("ARGV", "ENVIRON", "PROCINFO"))

NR: Final = SLOTS["NR"]
FNR: Final = SLOTS["FNR"]
NF: Final = SLOTS["NF"]
FILENAME: Final = SLOTS["FILENAME"]
RSTART: Final = SLOTS["RSTART"]
RLENGTH: Final = SLOTS["RLENGTH"]
RT: Final = SLOTS["RT"]
ARGC: Final = SLOTS["ARGC"]
ERRNO: Final = SLOTS["ERRNO"]
ARGV: Final = SLOTS["ARGV"]
ENVIRON: Final = SLOTS["ENVIRON"]
PROCINFO: Final = SLOTS["PROCINFO"]

WATCHED: Final = frozenset({
    "NR", "FNR", "NF", "FS", "OFS", "ORS", "RS", "SUBSEP", "CONVFMT", "OFMT", "IGNORECASE",
})  # fmt: skip
"""Variables whose assignment the interpreter must hear of."""

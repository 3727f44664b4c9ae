"""HotelReservation with users on it: from nothing to a prepared problem, one request with everything on, copies, memory.

See ``_apps.py`` for what is on and for the budgets. ``python benchmarks/hotel.py [--json]``
"""

from __future__ import annotations

from _apps import run

from aiopslab.apps.hotelres import HotelReservation

if __name__ == "__main__":
    raise SystemExit(run(HotelReservation(), "geo"))

"""Users and load generators: when requests arrive, how they are sent, and how they went.

Other packages import from here. Modules are imported on first use, because those that send requests need the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiopslab.utils.lazy import export_lazily

if TYPE_CHECKING:
    from aiopslab.generators.workload.arrivals import Arrival, Arrivals, OpenLoop, Replay, read_arrivals
    from aiopslab.generators.workload.outcomes import Outcome, Results, Summary
    from aiopslab.generators.workload.shapes import RATE, Bursts, Daily, Dial, Ramp, Shape, Steady, Steps
    from aiopslab.generators.workload.users import TIMEOUT_S, ClosedUsers, Users
    from aiopslab.generators.workload.wrk import Report, Wrk
    from simcloud.services.front_doors import FrontDoor, HttpDoor, RpcDoor, Sender, SendFailed

__all__ = [
    "RATE",
    "TIMEOUT_S",
    "Arrival",
    "Arrivals",
    "Bursts",
    "ClosedUsers",
    "Daily",
    "Dial",
    "FrontDoor",
    "HttpDoor",
    "OpenLoop",
    "Outcome",
    "Ramp",
    "Replay",
    "Report",
    "Results",
    "RpcDoor",
    "SendFailed",
    "Sender",
    "Shape",
    "Steady",
    "Steps",
    "Summary",
    "Users",
    "Wrk",
    "read_arrivals",
]
__getattr__ = export_lazily(
    __name__,
    {
        "aiopslab.generators.workload.arrivals": (
            "Arrival",
            "Arrivals",
            "OpenLoop",
            "Replay",
            "read_arrivals",
        ),
        "simcloud.services.front_doors": (
            "FrontDoor",
            "HttpDoor",
            "RpcDoor",
            "Sender",
            "SendFailed",
        ),
        "aiopslab.generators.workload.outcomes": ("Outcome", "Results", "Summary"),
        "aiopslab.generators.workload.shapes": (
            "RATE",
            "Bursts",
            "Daily",
            "Dial",
            "Ramp",
            "Shape",
            "Steady",
            "Steps",
        ),
        "aiopslab.generators.workload.users": ("TIMEOUT_S", "ClosedUsers", "Users"),
        "aiopslab.generators.workload.wrk": ("Report", "Wrk"),
    },
)

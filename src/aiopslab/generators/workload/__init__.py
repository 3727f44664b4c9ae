"""Users and load generators: when requests arrive, how they are sent, and how they went.

Other packages import from here. Modules are imported on first use, because those that send requests need the network.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.generators.workload.arrivals import (
        Arrival as Arrival,
        Arrivals as Arrivals,
        OpenLoop as OpenLoop,
        Replay as Replay,
        read_arrivals as read_arrivals,
    )
    from aiopslab.generators.workload.outcomes import (
        OPEN as OPEN,
        Outcome as Outcome,
        Results as Results,
        Summary as Summary,
    )
    from aiopslab.generators.workload.shapes import (
        MIN_SHARE as MIN_SHARE,
        RATE as RATE,
        Bursts as Bursts,
        Daily as Daily,
        Dial as Dial,
        Ramp as Ramp,
        Shape as Shape,
        Steady as Steady,
        Steps as Steps,
    )
    from aiopslab.generators.workload.users import (
        TIMEOUT_S as TIMEOUT_S,
        ClosedUsers as ClosedUsers,
        Users as Users,
    )
    from aiopslab.generators.workload.wrk import Report as Report, Wrk as Wrk
    from simcloud.services import (
        FrontDoor as FrontDoor,
        HttpDoor as HttpDoor,
        RpcDoor as RpcDoor,
        Sender as Sender,
        SendFailed as SendFailed,
    )

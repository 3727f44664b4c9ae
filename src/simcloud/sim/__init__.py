"""Virtual time: kernel, tasks, events, queues, named random streams, pacing along the wall clock."""

from simcloud.exports import export_lazily
from simcloud.sim.errors import (
    Closed as Closed,
    InvariantBroken as InvariantBroken,
    Livelock as Livelock,
    SimulationError as SimulationError,
    TaskFailed as TaskFailed,
    TimedOut as TimedOut,
)
from simcloud.sim.invariants import Invariants as Invariants
from simcloud.sim.kernel import EXPIRED as EXPIRED, Kernel as Kernel
from simcloud.sim.pacer import Pacer as Pacer
from simcloud.sim.recursion import call_deep as call_deep
from simcloud.sim.sync import (
    Condition as Condition,
    Event as Event,
    Queue as Queue,
    Semaphore as Semaphore,
    first_of as first_of,
    gather as gather,
)
from simcloud.sim.task import Cancelled as Cancelled, Dropped as Dropped, Task as Task, Timer as Timer

with export_lazily(globals()):
    from simcloud.sim.determinism import (
        NotDeterministic as NotDeterministic,
        check_determinism as check_determinism,
    )

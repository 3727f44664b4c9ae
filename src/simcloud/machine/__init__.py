"""Simulated computers: files, processes and network, and how their software emits logs, metrics and spans."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.machine import secure_shell as secure_shell
    from simcloud.machine.computer import EPOCH_S as EPOCH_S, GIB as GIB, Machine as Machine
    from simcloud.machine.emit import (
        Counter as Counter,
        Emitter as Emitter,
        Histogram as Histogram,
        Labels as Labels,
        LogLine as LogLine,
        Metrics as Metrics,
        NullEmitter as NullEmitter,
        Span as Span,
    )
    from simcloud.machine.exposition import CONTENT_TYPE as CONTENT_TYPE, format_metrics as format_metrics
    from simcloud.machine.image import BASE_FILES as BASE_FILES, Image as Image
    from simcloud.machine.logs import (
        LOG_FOLDER as LOG_FOLDER,
        ROTATE_BYTES as ROTATE_BYTES,
        ContainerLog as ContainerLog,
    )
    from simcloud.machine.power import turn_off as turn_off
    from simcloud.machine.units import Entry as Entry, Unit as Unit

"""Simulated computers: files, processes and network, and how their software emits logs, metrics and spans."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.machine import secure_shell as secure_shell, system_services as system_services
    from simcloud.machine.background import (
        Background as Background,
        count_idle_cores as count_idle_cores,
        draw_noise as draw_noise,
    )
    from simcloud.machine.computer import EPOCH_S as EPOCH_S, GIB as GIB, Machine as Machine
    from simcloud.machine.counters import Counters as Counters, age_traffic as age_traffic
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
    from simcloud.machine.exposition import (
        CONTENT_TYPE as CONTENT_TYPE,
        Sample as Sample,
        format_metrics as format_metrics,
        format_samples as format_samples,
        list_samples as list_samples,
    )
    from simcloud.machine.image import BASE_FILES as BASE_FILES, Image as Image
    from simcloud.machine.journal import INIT as INIT, KERNEL as KERNEL, Entry as Entry
    from simcloud.machine.kernel_log import LEVELS as LEVELS, Record as Record
    from simcloud.machine.logs import (
        LOG_FOLDER as LOG_FOLDER,
        ROTATE_BYTES as ROTATE_BYTES,
        ContainerLog as ContainerLog,
    )
    from simcloud.machine.occasional_lines import HOUR_S as HOUR_S, log_occasionally as log_occasionally
    from simcloud.machine.power import turn_off as turn_off
    from simcloud.machine.units import LOCAL as LOCAL, Unit as Unit, format_cpu_time as format_cpu_time

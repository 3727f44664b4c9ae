"""Helpers for all packages: extension points, loading of user files, and the error classes of the public release."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.utils.actions import action as action, read as read, write as write
    from aiopslab.utils.cache import LLMCache as LLMCache
    from aiopslab.utils.extensions import (
        find_extension as find_extension,
        get_summary as get_summary,
        import_folder as import_folder,
        list_extensions as list_extensions,
        load_extensions as load_extensions,
    )
    from aiopslab.utils.loading import NoPythonFile as NoPythonFile, load_module as load_module
    from aiopslab.utils.memory import pause_garbage_collection as pause_garbage_collection
    from aiopslab.utils.progress import (
        ProgressCallback as ProgressCallback,
        ignore_progress as ignore_progress,
    )
    from aiopslab.utils.status import (
        AIOpsLabError as AIOpsLabError,
        InvalidActionError as InvalidActionError,
        InvalidSubmissionError as InvalidSubmissionError,
        NotAvailable as NotAvailable,
        ResponseParsingError as ResponseParsingError,
        SessionPrint as SessionPrint,
        SubmissionStatus as SubmissionStatus,
    )

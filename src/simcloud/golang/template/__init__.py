"""Go's text templates, as used by ``-o go-template`` and helm."""

from simcloud.exports import export_lazily
from simcloud.golang.template.nodes import TemplateError as TemplateError
from simcloud.golang.template.template import GoTemplate as GoTemplate

with export_lazily(globals()):
    from simcloud.golang.template.execution import Run as Run
    from simcloud.golang.template.functions import (
        FUNCTIONS as FUNCTIONS,
        CallError as CallError,
        Function as Function,
        GoObject as GoObject,
        absent as absent,
        bad_base64_byte as bad_base64_byte,
    )
    from simcloud.golang.template.library import (
        Body as Body,
        Library as Library,
        Spent as Spent,
        bodies as bodies,
    )

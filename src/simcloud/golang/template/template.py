"""A template as ``-o go-template`` uses one."""

from __future__ import annotations

from typing import Any

import msgspec

from simcloud.golang.formatting import sprint
from simcloud.golang.json_text import json_text
from simcloud.golang.quoting import quote
from simcloud.golang.template.execution import Run
from simcloud.golang.template.functions import FUNCTIONS
from simcloud.golang.template.library import Library, bodies
from simcloud.golang.template.nodes import TemplateError

_NAME = "output"


class GoTemplate:
    """A parsed template. TemplateError if it cannot be read."""

    def __init__(self, template: str, *, allow_missing: bool = True) -> None:
        self.template = template
        templates = bodies(_NAME, template, FUNCTIONS)
        self._library = Library(templates, missing_key="default" if allow_missing else "error")

    def text(self, data: Any) -> str:
        """What the template prints of data. TemplateError, with what was printed until then, if it fails."""
        run = Run(self._library, _NAME)
        try:
            run.execute(data)
        except TemplateError as error:
            raise TemplateError(str(error), run.printed) from None
        return run.printed

    def explained(self, obj: Any) -> str:
        """The same of an object; what goes wrong is told on the output too, as ``kubectl get`` does.

        The object passes through JSON first, which makes whole numbers of floats that look like them.
        """
        data = as_read(obj)
        try:
            return self.text(data)
        except TemplateError as error:
            told = (
                f"Error executing template: {error}. Printing more information for debugging the template:\n"
                f"\ttemplate was:\n\t\t{self.template}\n"
                f"\traw data was:\n\t\t{json_text(obj)}\n"
                f"\tobject given to template engine was:\n\t\t{sprint(data)}\n\n"
            )
            message = f"error executing template {quote(self.template)}: {error}"
            raise TemplateError(message, error.printed + told) from None


def as_read(obj: Any) -> Any:
    """An object as it is after it has been written as JSON and read again."""
    return msgspec.json.decode(json_text(obj))

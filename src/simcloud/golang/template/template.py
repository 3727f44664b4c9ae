"""A template for ``-o go-template``."""

from __future__ import annotations

from typing import Any

import msgspec

from simcloud.golang.formatting import sprint
from simcloud.golang.json_text import format_json
from simcloud.golang.quoting import quote
from simcloud.golang.template.execution import Run
from simcloud.golang.template.functions import FUNCTIONS
from simcloud.golang.template.library import Library, bodies
from simcloud.golang.template.nodes import TemplateError

_NAME = "output"


class GoTemplate:
    """A parsed template. Raises ``TemplateError`` if its text is invalid."""

    def __init__(self, template: str, *, allow_missing: bool = True) -> None:
        self.template = template
        templates = bodies(_NAME, template, FUNCTIONS)
        self._library = Library(templates, missing_key="default" if allow_missing else "error")

    def text(self, data: Any) -> str:
        """Render the template with data. Raises ``TemplateError``, which holds the text printed so far."""
        run = Run(self._library, _NAME)
        try:
            run.execute(data)
        except TemplateError as error:
            raise TemplateError(str(error), run.printed) from None
        return run.printed

    def render_object(self, obj: Any) -> str:
        """Render the template with an object; an error adds details to the output, as in ``kubectl get``.

        The object passes through JSON first, which turns floats with whole values into integers.
        """
        data = round_trip_json(obj)
        try:
            return self.text(data)
        except TemplateError as error:
            details = (
                f"Error executing template: {error}. Printing more information for debugging the template:\n"
                f"\ttemplate was:\n\t\t{self.template}\n"
                f"\traw data was:\n\t\t{format_json(obj)}\n"
                f"\tobject given to template engine was:\n\t\t{sprint(data)}\n\n"
            )
            message = f"error executing template {quote(self.template)}: {error}"
            raise TemplateError(message, error.printed + details) from None


def round_trip_json(obj: Any) -> Any:
    """Return the object after encoding it to JSON and decoding it again."""
    return msgspec.json.decode(format_json(obj))

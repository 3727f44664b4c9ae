"""Values that are more than data to a template: with fields of Go's structs, and methods."""

from __future__ import annotations

from typing import Any, ClassVar

from simcloud.golang.template.functions import Function


class GoObject:
    """A value of a Go type of its own. One that is a map too derives from ``dict`` besides."""

    go_type: ClassVar[str] = "struct {}"

    def go_fields(self) -> dict[str, Any]:
        """Its fields by name."""
        return {}

    def go_method(self, name: str) -> Function | None:
        """A method by its name; None if it has none such."""
        return None

    def go_text(self) -> str:
        """How ``%v`` prints it."""
        raise NotImplementedError

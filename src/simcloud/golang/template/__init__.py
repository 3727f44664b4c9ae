"""Go's text templates, as used by ``-o go-template`` and helm."""

from simcloud.golang.template.nodes import TemplateError
from simcloud.golang.template.template import GoTemplate

__all__ = ["GoTemplate", "TemplateError"]

"""The part of Go's text templates that people use with ``-o go-template``."""

from simcloud.golang.template.nodes import TemplateError
from simcloud.golang.template.template import GoTemplate

__all__ = ["GoTemplate", "TemplateError"]

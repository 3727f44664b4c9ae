"""The Common Expression Language, in which custom kinds and admission policies state their rules.

``compile_expression(text).evaluate({"self": obj})`` gives a value in Python's types. Every step is counted, so that no rule runs for
long. Spoken: all operators, macros, conversions, text and list functions, regular expressions (on RE2), times,
durations, quantities and optional values. Not spoken: protocol buffers, static type checks, and the libraries for
URLs, addresses and versions.
"""

from simcloud.kubernetes.api.cel.program import Program, compile_expression
from simcloud.kubernetes.api.cel.values import CelError, CelSyntaxError

__all__ = ["CelError", "CelSyntaxError", "Program", "compile_expression"]

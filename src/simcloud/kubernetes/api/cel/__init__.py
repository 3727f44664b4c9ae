"""The Common Expression Language, for rules of custom kinds and admission policies.

``compile_expression(text).evaluate({"self": obj})`` returns a value in Python's types. Every step is counted, so that
no rule runs for long. Supported: all operators, macros, conversions, text and list functions, regular expressions (on
RE2), times, durations, quantities and optional values. Not supported: protocol buffers, static type checks, and the
libraries for URLs, addresses and versions.
"""

from simcloud.kubernetes.api.cel.program import Program as Program, compile_expression as compile_expression
from simcloud.kubernetes.api.cel.values import CelError as CelError, CelSyntaxError as CelSyntaxError

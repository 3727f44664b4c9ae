"""kubectl's JSONPath: ``{range .items[*]}{.metadata.name}{"\\n"}{end}``.

A dialect of its own, with its own mistakes: a path is text unless in braces, keys with dots are escaped with
a backslash, a whole number is never equal to a fraction. Maps are walked in the order of their keys, where
the genuine one takes any order.
"""

from simcloud.kubectl.jsonpath.evaluation import JsonPath
from simcloud.kubectl.jsonpath.nodes import JsonPathError

__all__ = ["JsonPath", "JsonPathError"]

"""kubectl's JSONPath: ``{range .items[*]}{.metadata.name}{"\\n"}{end}``.

It has its own rules: a path is text unless in braces, keys with dots are escaped with a backslash, an integer never
equals a fraction. Maps are visited in the order of their keys; the genuine one has a random order.
"""

from simcloud.kubectl.jsonpath.evaluation import JsonPath as JsonPath
from simcloud.kubectl.jsonpath.nodes import JsonPathError as JsonPathError

"""JavaScript values in Python.

``UNDEFINED``, None (null), ``bool``, ``float`` and ``str`` are the plain ones; everything else is a
``JsObject``. A script reaches an object only through ``own``, ``find`` and ``put`` with text keys, which
look into dictionaries: no attribute of a Python object can be named from a script.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.datastores.mongodb.shell.javascript.numbers import number_text

Value = Any
"""A script's value: see above. (Checked by construction, not by types: nearly every line handles one.)"""

MAX_ARRAY_LENGTH: Final = 1_000_000
MAX_PROTOTYPES: Final = 1_000


class Undefined:
    """The type of ``UNDEFINED``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = Undefined()
MISSING: Final = Undefined()
"""No such property. Scripts never see it."""


class Accessor:
    """A property of a built-in object that is computed when it is read."""

    __slots__ = ("getter",)

    def __init__(self, getter: JsObject) -> None:
        self.getter = getter


class Thrown(Exception):
    """A script threw this value."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class JsObject:
    """An object: properties in order, and a prototype."""

    __slots__ = ("hidden", "properties", "prototype")

    class_name = "Object"

    def __init__(self, prototype: JsObject | None = None) -> None:
        self.properties: dict[str, Value] = {}
        self.prototype = prototype
        self.hidden: dict[str, None] = {}

    def own(self, key: str) -> Value:
        """Return the object's own property, or ``MISSING``."""
        return self.properties.get(key, MISSING)

    def find(self, key: str) -> Value:
        """Return the property, the object's own or inherited, or ``MISSING``."""
        holder: JsObject | None = self
        while holder is not None:
            found = holder.own(key)
            if found is not MISSING:
                return found
            holder = holder.prototype
        return MISSING

    def put(self, key: str, value: Value) -> bool:
        """Set an own property; false when the object does not take it."""
        self.properties[key] = value
        return True

    def hide(self, key: str, value: Value) -> None:
        """Set an own property that loops and printing pass over."""
        self.properties[key] = value
        self.hidden[key] = None

    def remove(self, key: str) -> bool:
        """Delete an own property."""
        self.properties.pop(key, None)
        self.hidden.pop(key, None)
        return True

    def names(self) -> list[str]:
        """Return the own properties that loops see: whole numbers first, in order, then the rest as made."""
        keys = [key for key in self.properties if key not in self.hidden]
        if any(map(is_index, keys)):
            keys.sort(key=lambda key: (0, int(key)) if is_index(key) else (1, 0))
        return keys

    def inherits(self, prototype: JsObject) -> bool:
        """Return whether an object is among this one's prototypes."""
        holder = self.prototype
        while holder is not None:
            if holder is prototype:
                return True
            holder = holder.prototype
        return False


class JsArray(JsObject):
    """An array: dense, its holes undefined."""

    __slots__ = ("items",)

    class_name = "Array"

    def __init__(self, prototype: JsObject | None, items: list[Value]) -> None:
        super().__init__(prototype)
        self.items = items

    def own(self, key: str) -> Value:
        if is_index(key):
            index = int(key)
            return self.items[index] if index < len(self.items) else MISSING
        if key == "length":
            return float(len(self.items))
        return self.properties.get(key, MISSING)

    def put(self, key: str, value: Value) -> bool:
        if is_index(key):
            return self.put_at(int(key), value)
        if key == "length":
            return self._resize(value)
        self.properties[key] = value
        return True

    def put_at(self, index: int, value: Value) -> bool:
        """Set an item, growing the array if need be."""
        items = self.items
        if index >= MAX_ARRAY_LENGTH:
            return False
        if index >= len(items):
            items.extend([UNDEFINED] * (index - len(items) + 1))
        items[index] = value
        return True

    def _resize(self, length: Value) -> bool:
        if type(length) is not float or not 0 <= length <= MAX_ARRAY_LENGTH or length % 1:
            return False
        count = int(length)
        del self.items[count:]
        self.items.extend([UNDEFINED] * (count - len(self.items)))
        return True

    def remove(self, key: str) -> bool:
        if is_index(key) and int(key) < len(self.items):
            self.items[int(key)] = UNDEFINED
            return True
        return super().remove(key)

    def names(self) -> list[str]:
        return [str(index) for index in range(len(self.items))] + super().names()


class JsFunction(JsObject):
    """Anything that can be called: the base of functions written in the script and of built-in ones."""

    __slots__ = ("name",)

    class_name = "Function"

    def __init__(self, prototype: JsObject | None, name: str) -> None:
        super().__init__(prototype)
        self.name = name

    def own(self, key: str) -> Value:
        if key == "name" and "name" not in self.properties:
            return self.name
        return super().own(key)


class JsError(JsObject):
    """An error; ``stack`` is where it was made."""

    __slots__ = ("stack",)

    class_name = "Error"

    def __init__(self, prototype: JsObject | None, message: str, stack: str) -> None:
        super().__init__(prototype)
        self.stack = stack
        self.hide("message", message)
        self.hide("stack", stack)


class JsDate(JsObject):
    """A moment in milliseconds since 1970, or NaN."""

    __slots__ = ("time_ms",)

    class_name = "Date"

    def __init__(self, prototype: JsObject | None, time_ms: float) -> None:
        super().__init__(prototype)
        self.time_ms = time_ms


class Boxed(JsObject):
    """An object around one Python value that the script cannot touch: an ObjectId, a wrapped number."""

    __slots__ = ("boxed_as", "value")

    def __init__(self, prototype: JsObject | None, class_name: str, value: Any) -> None:
        super().__init__(prototype)
        self.boxed_as = class_name
        self.value = value

    @property
    def class_name(self) -> str:  # type: ignore[override]  # of each, not of its class
        """What kind of value it holds."""
        return self.boxed_as


def is_index(key: str) -> bool:
    """Return whether a key is a whole number as arrays have them."""
    return key.isdecimal() and key.isascii() and (key[0] != "0" or key == "0") and len(key) < 10


def truthy(value: Value) -> bool:
    """Return whether ``if`` takes a value as true."""
    if value is True or value is False:
        return value is True
    if value is None or value is UNDEFINED or value == "":
        return False
    if type(value) is float:
        return value == value and value != 0
    return True


def type_of(value: Value) -> str:
    """``typeof``."""
    if value is UNDEFINED:
        return "undefined"
    if value is True or value is False:
        return "boolean"
    if type(value) is float:
        return "number"
    if type(value) is str:
        return "string"
    return "function" if isinstance(value, JsFunction) else "object"


def same(left: Value, right: Value) -> bool:
    """``===``."""
    if type(left) is not type(right):
        return False
    if type(left) is float or type(left) is str:
        return bool(left == right)
    return left is right


def plain_text(value: Value) -> str:
    """Return a plain value as a string."""
    if type(value) is str:
        return value
    if type(value) is float:
        return number_text(value)
    if value is True or value is False:
        return "true" if value else "false"
    return "undefined" if value is UNDEFINED else "null"

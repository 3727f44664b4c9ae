"""Make ``server/kubernetes/protobuf/messages.json.gz``: the protobuf field numbers of every kind.

Run once per Kubernetes version; the result is kept in the repository:

    python scripts/make_protobuf_tables.py KUBECTL HELM

Both arguments are the genuine programs (ELF, 64 bit). A Go program carries the type information of
its structs, and the structs of the Kubernetes API carry their numbers in tags::

    Replicas *int32 `json:"replicas,omitempty" protobuf:"varint,1,opt,name=replicas"`

So the numbers, the JSON names, and what JSON leaves out are read from the very client that will
send them. kubectl knows all kinds but CustomResourceDefinition, which helm knows, and APIService;
``BY_HAND`` below holds what neither has. A type that the published definitions do not reach is
left out. The script ends with a list of published fields that have no number; it should be empty.

The file is a JSON object: message name (a definition's name without ``io.k8s.``) to its fields in
the order of the Go struct, each ``[number, JSON name, shape, flags, message, Go name]``, where the
last two are left out when they say nothing: ``message`` is set for the shape ``message`` alone, the
Go name when it is not the JSON name with a capital. See ``protobuf/tables.py`` for shapes and flags.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from simcloud.kubernetes.api.schema.builtin import definitions

TARGET = Path(__file__).parent.parent / "src/simcloud/server/kubernetes/protobuf/messages.json.gz"
PREFIX = "io.k8s."
META = "apimachinery.pkg.apis.meta.v1."
CRD = "apiextensions-apiserver.pkg.apis.apiextensions.v1."
AGGREGATION = "kube-aggregator.pkg.apis.apiregistration.v1."

SHAPES = {
    META + "Time": "time",
    META + "MicroTime": "micro_time",
    META + "FieldsV1": "json",
    "apimachinery.pkg.runtime.RawExtension": "json",
    CRD + "JSON": "json",
    "apimachinery.pkg.api.resource.Quantity": "quantity",
    "apimachinery.pkg.util.intstr.IntOrString": "int_or_string",
}
SCALARS = {"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "float64": "double"}

# What neither program knows; from the published generated.proto files and types.go.
BY_HAND: dict[str, list[list[Any]]] = {
    AGGREGATION + "APIService": [
        [1, "metadata", "message", "o", META + "ObjectMeta", "ObjectMeta"],
        [2, "spec", "message", "o", AGGREGATION + "APIServiceSpec"],
        [3, "status", "message", "o", AGGREGATION + "APIServiceStatus"],
    ],
    AGGREGATION + "APIServiceList": [
        [1, "metadata", "message", "o", META + "ListMeta", "ListMeta"],
        [2, "items", "message", "r", AGGREGATION + "APIService"],
    ],
    AGGREGATION + "APIServiceSpec": [
        [1, "service", "message", "*o", AGGREGATION + "ServiceReference"],
        [2, "group", "string", "o"],
        [3, "version", "string", "o"],
        [4, "insecureSkipTLSVerify", "bool", "o"],
        [5, "caBundle", "bytes", "o", "", "CABundle"],
        [7, "groupPriorityMinimum", "int32", ""],
        [8, "versionPriority", "int32", ""],
    ],
    AGGREGATION + "APIServiceStatus": [
        [1, "conditions", "message", "or", AGGREGATION + "APIServiceCondition"]
    ],
    AGGREGATION + "APIServiceCondition": [
        [1, "type", "string", ""],
        [2, "status", "string", ""],
        [3, "lastTransitionTime", "time", "o"],
        [4, "reason", "string", "o"],
        [5, "message", "string", "o"],
    ],
    AGGREGATION + "ServiceReference": [
        [1, "namespace", "string", "o"],
        [2, "name", "string", "o"],
        [3, "port", "int32", "*o"],
    ],
}
ADDED_BY_HAND: dict[str, list[list[Any]]] = {  # younger than helm's copy of the types
    CRD + "CustomResourceDefinitionCondition": [[6, "observedGeneration", "int64", "o"]],
    CRD + "CustomResourceDefinitionStatus": [[4, "observedGeneration", "int64", "o"]],
}
NOT_PROTOBUF = PREFIX + "apimachinery.pkg.version.Info"  # /version answers in JSON alone


class Type(NamedTuple):
    """What Go says of a type: its kind (struct, slice …), its name and package, where it lies."""

    kind: str
    name: str
    package: str
    at: int

    @property
    def definition(self) -> str:
        """``k8s.io/api/core/v1`` and ``v1.Pod`` make ``api.core.v1.Pod``."""
        return f"{self.package.removeprefix('k8s.io/').replace('/', '.')}.{self.name.rpartition('.')[2]}"


KINDS = (
    *(
        "invalid",
        "bool",
        "int",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ),
    *(
        "uintptr",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "array",
        "chan",
        "func",
        "interface",
        "map",
    ),
    *("pointer", "slice", "string", "struct", "unsafe"),
)
HEAD = struct.Struct("<QQIBBBBQQii")  # size … flags, align, align, kind, equal, gc, name, pointer to this
PACKAGE_AT = {"pointer": 56, "struct": 80, "slice": 56}


class GoProgram:
    """The type information of a Go program for 64-bit Linux (``internal/abi.Type`` of Go 1.18 on)."""

    def __init__(self, path: str) -> None:
        self.data = Path(path).read_bytes()
        table, count, names = (
            struct.unpack_from(form, self.data, at)[0] for form, at in (("<Q", 40), ("<H", 60), ("<H", 62))
        )
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, table + 64 * index) for index in range(count)]
        self.sections: dict[str, tuple[int, int, int]] = {
            self._text(headers[names][4] + header[0]): (header[3], header[4], header[5]) for header in headers
        }
        self.base = self.sections[".rodata"][0]

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()

    def offset(self, address: int) -> int:
        """Where in the file an address of read-only data lies."""
        start, at, _ = self.sections[".rodata"]
        return at + address - start

    def words(self, at: int, count: int = 1) -> tuple[int, ...]:
        """Pointers and lengths at a place of the file."""
        return struct.unpack_from(f"<{count}Q", self.data, at)

    def name(self, address: int) -> tuple[str, str]:
        """A name and its tag."""
        at = self.offset(address)
        flags, at = self.data[at], at + 1
        name, at = self._counted(at)
        return name, self._counted(at)[0] if flags & 2 else ""

    def _counted(self, at: int) -> tuple[str, int]:
        length = shift = 0
        while True:
            byte, at = self.data[at], at + 1
            length, shift = length | (byte & 127) << shift, shift + 7
            if byte < 128:
                return self.data[at : at + length].decode(), at + length

    def type(self, address: int) -> Type:
        """The type at an address."""
        at = self.offset(address)
        _, _, _, flags, _, _, kind_number, _, _, name_at, _ = HEAD.unpack_from(self.data, at)
        kind = KINDS[kind_number & 31]
        name = self.name(self.base + name_at)[0][1 if flags & 2 else 0 :]
        package = ""
        if flags & 1 and kind in PACKAGE_AT:
            (package_at,) = struct.unpack_from("<i", self.data, at + PACKAGE_AT[kind])
            package = self.name(self.base + package_at)[0] if package_at else ""
        return Type(kind, name, package, at)

    def element(self, type: Type) -> Type:
        """What a pointer points to, what a slice or a map holds."""
        return self.type(self.words(type.at + (56 if type.kind == "map" else 48))[0])

    def fields(self, type: Type) -> list[tuple[str, str, Type]]:
        """A struct's fields: name, tag, type."""
        first, count = self.words(type.at + 56, 2)
        found = []
        for index in range(count):
            name_at, type_at = self.words(self.offset(first) + 24 * index, 2)
            found.append((*self.name(name_at), self.type(type_at)))
        return found

    @cached_property
    def structs(self) -> dict[str, Type]:
        """The structs of the Kubernetes API by definition name; the linker lists a pointer to each."""
        _, at, size = self.sections[".typelink"]
        links = struct.unpack_from(f"<{size // 4}i", self.data, at)
        pointers = (self.type(self.base + link) for link in links)
        pointed = (self.element(one) for one in pointers if one.kind == "pointer")
        return {
            one.definition: one
            for one in pointed
            if one.kind == "struct" and one.package.startswith("k8s.io/")
        }


def message(program: GoProgram, type: Type) -> list[list[Any]]:
    """The fields of a struct that have a number."""
    return [
        field(program, name, tag, held) for name, tag, held in program.fields(type) if 'protobuf:"' in tag
    ]


def field(program: GoProgram, go_name: str, tag: str, type: Type) -> list[Any]:
    """One field from its tag and its type."""
    tags = dict(re.findall(r'(\w+):"([^"]*)"', tag))
    _, number, *said = tags["protobuf"].split(",")
    proto_name = next((one.removeprefix("name=") for one in said if one.startswith("name=")), "")
    json_name, *options = tags.get("json", proto_name).split(",")
    flags = "".join(sign for sign, option in (("o", "omitempty"), ("z", "omitzero")) if option in options)
    if type.kind == "pointer":
        flags, type = "*" + flags, program.element(type)
    elif type.kind == "map":
        flags, type = flags + "m", program.element(type)
    elif type.kind == "slice" and type.name != "[]uint8" and not is_wrapped(program, type):
        flags, type = flags + "r", program.element(type)
    if "inline" in options:
        assert "*" not in flags, (go_name, tag)
        json_name = ""
    shape, target = shape_of(program, type)
    expected = json_name[:1].upper() + json_name[1:]
    entry = [int(number), json_name, shape, flags, target, "" if go_name == expected else go_name]
    while len(entry) > 4 and not entry[-1]:
        entry.pop()
    return entry


def is_wrapped(program: GoProgram, type: Type) -> bool:
    """A named list of strings (Verbs, ExtraValue) may be null, so it is a message with items."""
    return bool(type.package) and program.element(type).kind == "string"


def shape_of(program: GoProgram, type: Type) -> tuple[str, str]:
    """How values look on the wire, and the message's name if they are messages."""
    if type.kind == "struct":
        special = SHAPES.get(type.definition)
        return (special, "") if special else ("message", type.definition)
    if type.kind == "slice":
        if type.name == "[]uint8":
            return "bytes", ""
        return "strings", ""
    return SCALARS[type.kind], ""


def make(programs: list[GoProgram]) -> dict[str, list[list[Any]]]:
    """All messages that the published definitions reach."""
    known = dict(BY_HAND)
    waiting = [name.removeprefix(PREFIX) for name in definitions()]
    made: dict[str, list[list[Any]]] = {}
    while waiting:
        name = waiting.pop()
        if name in made or name in SHAPES:
            continue
        if name not in known:
            program = next((one for one in programs if name in one.structs), None)
            if program is None:
                continue
            known[name] = message(program, program.structs[name]) + ADDED_BY_HAND.get(name, [])
        made[name] = known[name]
        waiting += [entry[4] for entry in made[name] if entry[2] == "message"]
    referred = {entry[4] for entries in made.values() for entry in entries if entry[2] == "message"}
    return {name: made[name] for name in sorted(made) if made[name] or name in referred}


def gaps(messages: dict[str, list[list[Any]]]) -> list[str]:
    """The published fields without a number."""

    def names(name: str) -> set[str]:
        entries = messages.get(name, [])
        inlined = (names(entry[4]) for entry in entries if not entry[1])
        return {entry[1] for entry in entries}.union(*inlined)

    missing = []
    for name, definition in definitions().items():
        if name == NOT_PROTOBUF:
            continue
        published = set(definition.get("properties", ())) - {"apiVersion", "kind"}
        missing += [f"{name}.{one}" for one in sorted(published - names(name.removeprefix(PREFIX)))]
    return missing


def main() -> None:
    """Write the file and tell what it lacks."""
    messages = make([GoProgram(path) for path in sys.argv[1:]])
    packed = gzip.compress(json.dumps(messages, separators=(",", ":")).encode(), 9, mtime=0)
    TARGET.write_bytes(packed)
    print(f"{len(messages)} messages, {sum(map(len, messages.values()))} fields, {len(packed)} bytes")
    for gap in gaps(messages):
        print("no number:", gap)


if __name__ == "__main__":
    main()

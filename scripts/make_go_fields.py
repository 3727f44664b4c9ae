"""Write ``go_fields.txt``: how Go declares every field of the Kubernetes API.

OpenAPI does not say which fields are pointers, which are left out when empty, what a named string type is called, nor
in which order Go writes them; all of it shows in what a genuine API server answers. A kubectl binary holds these facts
as the type data that Go's ``reflect`` reads. Run as

    python scripts/make_go_fields.py kubectl [another-binary ...] > src/simcloud/kubernetes/api/data/go_fields.txt

Types that the first binary lacks are taken from the next one (helm holds CustomResourceDefinition). Only 64-bit
little-endian ELF files of Go 1.18 to 1.26 are read.
"""

from __future__ import annotations

import gzip
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from make_protobuf_tables import KINDS

HEADER_BYTES = 48
DATA = Path(__file__).parent.parent / "src" / "simcloud" / "kubernetes" / "api" / "data"
AGGREGATOR = "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1."
BY_HAND = {
    # No client is built with these; they are as k8s.io/kube-aggregator declares them.
    AGGREGATOR + "APIService": (
        "kind? string|apiVersion? string|metadata? v1.ObjectMeta|spec? v1.APIServiceSpec|status? v1.APIServiceStatus"
    ),
    AGGREGATOR + "APIServiceCondition": (
        "type v1.APIServiceConditionType|status v1.ConditionStatus|lastTransitionTime? v1.Time|reason? string"
        "|message? string"
    ),
    AGGREGATOR + "APIServiceList": (
        "kind? string|apiVersion? string|metadata? v1.ListMeta|items []v1.APIService"
    ),
    AGGREGATOR + "APIServiceSpec": (
        "service? *v1.ServiceReference|group? string|version? string|insecureSkipTLSVerify? bool|caBundle? []uint8"
        "|groupPriorityMinimum int32|versionPriority int32"
    ),
    AGGREGATOR + "APIServiceStatus": "conditions? []v1.APIServiceCondition",
    AGGREGATOR + "ServiceReference": "namespace? string|name? string|port? *int32",
}


class Binary:
    """A Go program's type data."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        self.sections = dict(self._read_sections())
        self.base = self.sections[".rodata"][0]

    def _read_sections(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        (table,) = struct.unpack_from("<Q", self.data, 0x28)
        entry_bytes, count, names_index = struct.unpack_from("<HHH", self.data, 0x3A)
        entries = [struct.unpack_from("<IIQQQQ", self.data, table + i * entry_bytes) for i in range(count)]
        names = entries[names_index][4]
        for name, _, _, address, offset, size in entries:
            start = names + name
            yield self.data[start : self.data.index(b"\0", start)].decode(), (address, offset, size)

    def offset(self, address: int) -> int:
        """Where an address lies in the file."""
        for start, offset, size in self.sections.values():
            if start and start <= address < start + size:
                return address - start + offset
        raise ValueError(f"address {address:#x} is in no section")

    def number(self, address: int, form: str = "<Q") -> int:
        """A number at an address."""
        (value,) = struct.unpack_from(form, self.data, self.offset(address))
        return int(value)

    def name(self, address: int) -> tuple[str, str, bool]:
        """A name, its tag, and whether it is an embedded field's."""
        at = self.offset(address)
        flags = self.data[at]
        name, at = self._text(at + 1)
        tag = self._text(at)[0] if flags & 2 else ""
        return name, tag, bool(flags & 8)

    def _text(self, at: int) -> tuple[str, int]:
        length = shift = 0
        while True:
            byte = self.data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return self.data[at : at + length].decode(errors="replace"), at + length

    def kind(self, address: int) -> str:
        """What sort of type lies at an address."""
        return KINDS[self.number(address + 23, "<B") & 31]

    def written(self, address: int) -> str:
        """A type as Go prints it."""
        text = self.name(self.base + self.number(address + 40, "<i"))[0]
        return text[1:] if self.number(address + 20, "<B") & 2 else text

    def package(self, struct_type: int) -> str:
        """The package a struct is declared in, empty for a nameless one."""
        flags = self.number(struct_type + 20, "<B")
        if flags & 5 != 5:
            return ""
        return self.name(self.base + self.number(struct_type + HEADER_BYTES + 32, "<i"))[0]

    def parts(self, address: int) -> list[int]:
        """The types that a type is made of."""
        kind = self.kind(address)
        if kind in ("pointer", "slice", "array"):
            return [self.number(address + HEADER_BYTES)]
        if kind == "map":
            return [self.number(address + HEADER_BYTES + 8)]
        return [field for *_, field in self.fields(address)] if kind == "struct" else []

    def fields(self, struct_type: int) -> Iterator[tuple[str, str, bool, int]]:
        """A struct's fields: name, tag, embedded, type."""
        first = self.number(struct_type + HEADER_BYTES + 8)
        for index in range(self.number(struct_type + HEADER_BYTES + 16)):
            entry = first + 24 * index
            yield *self.name(self.number(entry)), self.number(entry + 8)

    def structs(self) -> dict[str, int]:
        """Every named struct by package and name."""
        _, offset, size = self.sections[".typelink"]
        waiting = [self.base + link for link in struct.unpack_from(f"<{size // 4}i", self.data, offset)]
        seen: set[int] = set()
        found: dict[str, int] = {}
        while waiting:
            address = waiting.pop()
            if address in seen:
                continue
            seen.add(address)
            waiting += self.parts(address)
            if self.kind(address) == "struct" and (package := self.package(address)):
                found[f"{package}.{self.written(address).rpartition('.')[2]}"] = address
        return found


def json_fields(binary: Binary, struct_type: int) -> Iterator[str]:
    """A struct's fields as JSON sees them, embedded ones in place: name, ``?`` if left out when empty, type."""
    for name, tag, embedded, type_ in binary.fields(struct_type):
        said = tag.partition('json:"')[2].partition('"')[0].split(",")
        if said[0] == "-" or (not embedded and not name[0].isupper()):
            continue
        if embedded and not said[0]:
            inner = binary.parts(type_)[0] if binary.kind(type_) == "pointer" else type_
            yield from json_fields(binary, inner)
            continue
        mark = "!" if "omitzero" in said else "?" if "omitempty" in said else ""
        yield f"{said[0] or name}{mark} {binary.written(type_)}"


def main(paths: list[str]) -> None:
    """Print the table."""
    table = {name: fields.split("|") for name, fields in BY_HAND.items()}
    known = json.loads(gzip.decompress((DATA / "definitions.json.gz").read_bytes()))
    for path in paths:
        binary = Binary(Path(path))
        for name, address in binary.structs().items():
            host, _, rest = name.partition("/")
            definition = ".".join(reversed(host.split("."))) + "." + rest.replace("/", ".")
            if "properties" in known.get(definition, ()):
                table.setdefault(definition, list(json_fields(binary, address)))
    for definition in sorted(table):
        print(definition)
        for field in table[definition]:
            print(f"  {field}")


if __name__ == "__main__":
    main(sys.argv[1:])

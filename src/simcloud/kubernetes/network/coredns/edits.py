"""The plugins that answer or change queries by rules: ``hosts``, ``rewrite`` and ``template``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from simcloud.kubernetes.network.coredns.corefile import Directive, ParsingError, WrongArguments
from simcloud.kubernetes.network.coredns.settings import PluginError, below, zone_name
from simcloud.machine.network import dns, is_address

HOSTS_TTL_S: Final = 3600
TEMPLATE_CODES: Final = (dns.NOERROR, dns.NXDOMAIN, dns.SERVFAIL, dns.REFUSED)
MATCHES: Final = ("exact", "prefix", "suffix", "substring", "regex")
_PLACE = re.compile(r"\{\{\s*(?:\.(Name|Zone|Type|Class)|\.Group\.(\w+)|index \.Match (\d+))\s*\}\}")


class Hosts:
    """``hosts``: names from a table in the Corefile or in a file."""

    def __init__(self, line: Directive, read: Callable[[str], str | None]) -> None:
        self._table: dict[tuple[str, str], list[str]] = {}
        self._ttl_s = HOSTS_TTL_S
        self._falls_through: tuple[str, ...] = ()
        self._zones = tuple(zone_name(zone) for zone in line.args[1:]) or ("",)
        text = read(line.args[0] if line.args else "/etc/hosts") or ""
        for row in text.splitlines():
            self._add(row.partition("#")[0].split())
        for each in line.body:
            if each.name == "fallthrough":
                self._falls_through = tuple(zone_name(zone) for zone in each.args) or ("",)
            elif each.name == "ttl":
                self._ttl_s = int(each.args[0])
            elif is_address(each.name):
                self._add([each.name, *each.args])
            elif each.name not in ("no_reverse", "reload"):
                raise PluginError("hosts", ParsingError(each.line, f"unknown property '{each.name}'"))

    def _add(self, words: list[str]) -> None:
        if words and is_address(words[0]):
            kind = "AAAA" if ":" in words[0] else "A"
            for name in words[1:]:
                self._table.setdefault((dns.plain_name(name), kind), []).append(words[0])

    def answer(self, question: dns.Question) -> dns.Reply | None:
        """What the table says; None when the next plugin is to be asked."""
        name = question.name
        if not any(below(name, zone) for zone in self._zones):
            return None
        found = self._table.get((name, question.kind), [])
        if found:
            records = tuple(dns.Record(name, question.kind, each, self._ttl_s) for each in found)
            return dns.Reply(question, dns.NOERROR, records, authoritative=True)
        if any((name, kind) in self._table for kind in ("A", "AAAA")):
            return dns.Reply(question, dns.NOERROR, authoritative=True)
        if any(below(name, zone) for zone in self._falls_through):
            return None
        return dns.Reply(
            question, dns.NXDOMAIN if self._falls_through == () and self._table else dns.SERVFAIL
        )


class Rewrite:
    """``rewrite name``: another name is looked up, the asker never learns."""

    def __init__(self, line: Directive) -> None:
        words = [word for word in line.args if word not in ("continue", "stop")]
        if len(words) < 2:
            raise PluginError("rewrite", WrongArguments(line.line, (line.name, *line.args)[-1]))
        self.stops = "continue" not in line.args
        self._field = words[0]
        self._match = words[1] if words[1] in MATCHES else "exact"
        rest = words[2:] if words[1] in MATCHES else words[1:]
        if self._field not in ("name", "type", "class", "ttl", "edns0", "cname", "rcode"):
            raise PluginError("rewrite", f'invalid rule type "{self._field}"')
        if len(rest) < 2:
            raise PluginError("rewrite", f"{self._field} rewrite requires at least 2 arguments")
        self._old, self._new = rest[0], rest[1]

    def rewritten(self, question: dns.Question) -> dns.Question:
        """The question that is looked up instead."""
        if self._field == "type":
            return replace(question, kind=self._new) if question.kind == self._old else question
        if self._field != "name":
            return question
        name, old, new = f"{question.name}.", self._old, self._new
        if self._match == "exact":
            name = new if name == f"{dns.plain_name(old)}." else name
        elif self._match == "prefix" and name.startswith(old):
            name = new + name.removeprefix(old)
        elif self._match == "suffix" and name.endswith(f"{old.rstrip('.')}."):
            name = name.removesuffix(f"{old.rstrip('.')}.") + new
        elif self._match == "substring":
            name = name.replace(old, new)
        elif self._match == "regex":
            found = re.search(old, name)
            if found is not None:
                name = re.sub(r"\{(\d+)\}", lambda place: found[int(place[1])] or "", new)
        return replace(question, name=dns.plain_name(name))


class Template(Struct, frozen=True):
    """``template``: answers made from the question itself."""

    kind: str
    zones: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    answers: tuple[str, ...]
    code: str
    fallthrough: tuple[str, ...] | None

    @classmethod
    def of(cls, line: Directive, block_zones: list[str]) -> Template:
        """From its lines."""
        if len(line.args) < 2:
            raise PluginError("template", WrongArguments(line.line, (line.name, *line.args)[-1]))
        patterns, answers, code, fallthrough = [], [], dns.NOERROR, None
        for each in line.body:
            if each.name == "match":
                patterns += [re.compile(pattern) for pattern in each.args]
            elif each.name == "answer":
                answers.append(" ".join(each.args))
            elif each.name == "rcode":
                code = each.args[0]
                if code not in TEMPLATE_CODES:
                    raise PluginError("template", ParsingError(each.line, f"unknown rcode {code}"))
            elif each.name == "fallthrough":
                fallthrough = tuple(zone_name(zone) for zone in each.args) or ("",)
            elif each.name not in ("additional", "authority", "ederror", "upstream"):
                raise PluginError("template", WrongArguments(each.line, each.name))
        zones = tuple(zone_name(zone) for zone in line.args[2:]) or tuple(block_zones)
        return cls(line.args[1], zones, tuple(patterns), tuple(answers), code, fallthrough)

    def answer(self, question: dns.Question) -> dns.Reply | None:
        """What the template makes of a question; None when it does not concern it."""
        if self.kind not in ("ANY", question.kind) or not any(
            below(question.name, zone) for zone in self.zones
        ):
            return None
        full = f"{question.name}."
        found = next((match for match in (each.search(full) for each in self.patterns) if match), None)
        if self.patterns and found is None:
            return None
        records = tuple(self._record(text, question, found) for text in self.answers)
        return dns.Reply(question, self.code, records, authoritative=True)

    def _record(self, text: str, question: dns.Question, match: re.Match[str] | None) -> dns.Record:
        def fill(place: re.Match[str]) -> str:
            if place[1] is not None:
                known = {"Name": f"{question.name}.", "Zone": f"{self.zones[0]}.", "Type": question.kind}
                return known.get(place[1], "IN")
            if match is None:
                return ""
            return match[place[2]] if place[2] is not None else match[int(place[3])]

        name, *rest = _PLACE.sub(fill, text).split()
        ttl_s = int(rest.pop(0)) if rest and rest[0].isdecimal() else 0
        kind, *data = [word for word in rest if word != "IN"]
        return dns.Record(dns.plain_name(name), kind, " ".join(data), ttl_s)

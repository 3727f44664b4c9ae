"""The parser of LogQL."""

from __future__ import annotations

from typing import Final

from simcloud.golang import BadRegex
from simcloud.telemetry.logs.logql.errors import LogqlError
from simcloud.telemetry.logs.logql.lexer import AGGREGATORS, RANGE_FUNCTIONS
from simcloud.telemetry.logs.logql.nodes import LogSelector, RangeCall, Replace, Sorted, VectorOf
from simcloud.telemetry.logs.logql.pipelines import read_stages, read_unwrap
from simcloud.telemetry.logs.logql.tokens import Reader
from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.metrics.matchers import compile_anchored
from simcloud.telemetry.promql.nodes import Aggregate, Binary, Cardinality, Matching, Node, Number, Paren

LONGEST: Final = 131_072
_RANGE_KINDS: Final = {name.upper(): name for name in RANGE_FUNCTIONS}
_AGGREGATE_KINDS: Final = {name.upper(): name for name in AGGREGATORS}
_PLAIN: Final = frozenset({"count_over_time", "bytes_over_time", "bytes_rate", "absent_over_time", "rate"})
"""Those that need no number in a line."""
_GROUPED: Final = frozenset(
    f"{name}_over_time" for name in ("avg", "max", "min", "stddev", "stdvar", "quantile", "first", "last")
)
_ADDABLE: Final = frozenset({"count_over_time", "rate", "bytes_over_time", "bytes_rate", "sum_over_time"})
_PRECEDENCE: Final = {
    "or": 1,
    **dict.fromkeys(("and", "unless"), 2),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
    "^": 6,
}
_TOO_WIDE: Final = (
    "queries require at least one regexp or equality matcher that does not have an empty-compatible value. For "
    'instance, app=~".*" does not meet this requirement, but app=~".+" will'
)
NO_PLACE: Final = (0, 0)


def parse(query: str) -> LogSelector | Node:
    """Parse a query. Raise ``LogqlError``."""
    reader = _reader(query)
    expression = _Parser(reader).expression(0)
    if reader.word.kind != "$end":
        reader.reject_word()
    return expression


def parse_matchers(text: str) -> tuple[Matcher, ...]:
    """Parse a selector."""
    reader = _reader(text)
    parser = _Parser(reader, wide=True)
    matchers = parser.selector()
    if reader.word.kind != "$end":
        parse(text)
        raise LogqlError("only label matchers are supported")
    return matchers


def check_narrow(matchers: tuple[Matcher, ...]) -> None:
    """Refuse conditions that every stream fulfils."""
    if all(matcher.accepts("") for matcher in matchers):
        raise LogqlError(_TOO_WIDE)


def _reader(query: str) -> Reader:
    if len(query.encode("utf-8", "replace")) >= LONGEST:
        raise LogqlError(f"input size too long ({len(query.encode('utf-8', 'replace'))} > {LONGEST})")
    return Reader(query)


class _Parser:
    def __init__(self, reader: Reader, *, wide: bool = False) -> None:
        self._reader = reader
        self._wide = wide

    def expression(self, least: int) -> LogSelector | Node:
        """Parse an expression whose operators have at least this precedence."""
        reader = self._reader
        reader.deeper()
        left = self._operand()
        while (precedence := _PRECEDENCE.get(reader.word.kind, 0)) > least:
            operator = reader.next().kind
            matching, returns_bool = self._modifiers(operator)
            right = self.expression(precedence - 1 if operator == "^" else precedence)
            for side, part in (("left", left), ("right", right)):
                if isinstance(part, LogSelector):
                    raise LogqlError(
                        f"unexpected type for {side} leg of binary operation ({operator}): *syntax.MatchersExpr"
                    )
            left = Binary(0, 0, operator, left, right, matching, returns_bool, 0)  # type: ignore[arg-type]  # neither is a selector
        reader.shallower()
        return left

    def _operand(self) -> LogSelector | Node:
        reader = self._reader
        kind = reader.word.kind
        if kind == "{":
            selector = self.selector()
            return LogSelector(selector, read_stages(reader))
        if kind == "(":
            reader.next()
            inner = self.expression(0)
            reader.expect(")")
            return inner if isinstance(inner, LogSelector) else Paren(*NO_PLACE, inner)
        if kind in ("NUMBER", "+", "-"):
            return Number(*NO_PLACE, self._number())
        if kind in _RANGE_KINDS:
            return self._range_call(_RANGE_KINDS[reader.next().kind])
        if kind in _AGGREGATE_KINDS:
            return self._aggregate(_AGGREGATE_KINDS[reader.next().kind])
        if kind == "VECTOR":
            reader.next()
            reader.expect("(")
            value = reader.expect("NUMBER").value
            reader.expect(")")
            return VectorOf(*NO_PLACE, value)
        if kind == "label_replace":
            return self._label_replace()
        reader.reject_word()

    def _number(self) -> float:
        sign = self._reader.next() if self._reader.word.kind in ("+", "-") else None
        value = self._reader.expect("NUMBER").value
        return -value if sign is not None and sign.kind == "-" else value

    def _metric(self) -> Node:
        inner = self.expression(0)
        if isinstance(inner, LogSelector):
            self._reader.reject_word()
        return inner

    def selector(self) -> tuple[Matcher, ...]:
        """``{name="value", …}``."""
        reader = self._reader
        reader.expect("{")
        matchers: list[Matcher] = []
        if reader.word.kind not in ("IDENTIFIER", "}"):
            reader.reject_word("IDENTIFIER", "}")
        while reader.word.kind == "IDENTIFIER":
            matchers.append(reader.matcher())
            if reader.word.kind not in ("}", ","):
                reader.reject_word("}", ",")
            if reader.accept(",") and reader.word.kind != "IDENTIFIER":
                reader.reject_word("IDENTIFIER")
        reader.expect("}")
        if not self._wide:
            check_narrow(tuple(matchers))
        return tuple(matchers)

    def _range_call(self, function: str) -> Node:
        reader = self._reader
        reader.expect("(")
        parameter = None
        if reader.word.kind == "NUMBER":
            parameter = reader.next().value
            reader.expect(",")
            if reader.word.kind not in ("{", "("):
                reader.reject_word("{", "(")
        elif reader.word.kind not in ("{", "("):
            reader.reject_word("NUMBER", "{", "(")
        call = self._log_range(function)
        reader.expect(")")
        call.parameter = parameter
        if reader.word.kind in ("by", "without"):
            if function not in _GROUPED:
                raise LogqlError(f"grouping not allowed for {function} aggregation")
            call.labels, call.without = self._grouping()
        _check_range_call(call)
        return call

    def _log_range(self, function: str) -> RangeCall:
        reader = self._reader
        if reader.accept("("):
            reader.deeper()
            if reader.word.kind not in ("{", "("):
                reader.reject_word("{", "(")
            call = self._log_range(function)
            reader.shallower()
            reader.expect(")")
        else:
            call = RangeCall(*NO_PLACE, function, LogSelector(self.selector()), 0)
        self._range_parts(call)
        return call

    def _range_parts(self, call: RangeCall) -> None:
        """Stages, the range, its offset and ``unwrap``, before or behind the range."""
        reader = self._reader
        while True:
            kind = reader.word.kind
            if kind == "RANGE" and not call.range_ns:
                call.range_ns = int(reader.next().value)
                if reader.accept("offset"):
                    sign = -1 if reader.accept("-") else 1
                    call.offset_ns = sign * int(reader.expect("DURATION").value)
                continue
            unwrap = read_unwrap(reader)
            if unwrap is not None:
                call.unwrap = unwrap
                continue
            stages = read_stages(reader)
            if not stages:
                break
            call.lines = LogSelector(call.lines.matchers, (*call.lines.stages, *stages))
        if not call.range_ns and reader.word.kind == ")" and reader.following.kind != "RANGE":
            reader.reject_word()

    def _grouping(self) -> tuple[tuple[str, ...], bool]:
        reader = self._reader
        without = reader.next().kind == "without"
        reader.expect("(")
        names = []
        if reader.word.kind != ")":
            names.append(reader.expect("IDENTIFIER", ")").text)
            while reader.accept(","):
                names.append(reader.expect("IDENTIFIER").text)
        reader.expect(")")
        return tuple(names), without

    def _aggregate(self, operator: str) -> Node:
        reader = self._reader
        grouping = self._grouping() if reader.word.kind in ("by", "without") else None
        reader.expect("(")
        parameter = None
        if reader.word.kind == "NUMBER" and reader.following.kind == ",":
            parameter = reader.next().text
            reader.next()
        inner = self._metric()
        reader.expect(")")
        if grouping is None and reader.word.kind in ("by", "without"):
            grouping = self._grouping()
        names, without = grouping or ((), False)
        if operator in ("sort", "sort_desc"):
            if names:
                raise LogqlError("sort and sort_desc doesn't allow grouping by ")
            return Sorted(*NO_PLACE, inner, operator == "sort_desc")
        count = _count(operator, parameter)
        if operator == "sum" and isinstance(inner, RangeCall) and inner.function in _ADDABLE:
            # The same sum, without a series for every value of every label on the way there.
            inner.labels, inner.without = names, without
        return Aggregate(*NO_PLACE, operator, inner, count, names, without)

    def _label_replace(self) -> Node:
        reader = self._reader
        reader.next()
        reader.expect("(")
        inner = self._metric()
        texts = []
        for _ in range(4):
            reader.expect(",")
            texts.append(reader.expect("STRING").text)
        reader.expect(")")
        try:
            compile_anchored(texts[3])
        except BadRegex as fault:
            raise LogqlError(f"invalid regex in label_replace: {fault}") from None
        return Replace(*NO_PLACE, inner, *texts)

    def _modifiers(self, operator: str) -> tuple[Matching, bool]:
        reader = self._reader
        returns_bool = reader.accept("bool")
        cardinality: Cardinality = "many-to-many" if operator in ("and", "or", "unless") else "one-to-one"
        labels: tuple[str, ...] = ()
        include: tuple[str, ...] = ()
        on = reader.word.kind == "on"
        if reader.word.kind in ("on", "ignoring"):
            labels, _ = self._grouping()
            if reader.word.kind in ("group_left", "group_right"):
                cardinality = "many-to-one" if reader.word.kind == "group_left" else "one-to-many"
                if reader.following.kind == "(":
                    include, _ = self._grouping()
                else:
                    reader.next()
        return Matching(cardinality, labels, on, include), returns_bool


def _count(operator: str, text: str | None) -> Number | None:
    if operator in ("topk", "bottomk"):
        if text is None:
            raise LogqlError(f"parameter required for operation {operator}")
        if not text.isdigit():
            raise LogqlError(f"invalid parameter {operator}({text},")
        if float(text) <= 0:
            raise LogqlError(f"invalid parameter (must be greater than 0) {operator}({text}")
        return Number(*NO_PLACE, float(text))
    if text is not None:
        raise LogqlError(f"unsupported parameter for operation {operator}({text},")
    return None


def _check_range_call(call: RangeCall) -> None:
    function = call.function
    if function == "quantile_over_time":
        if call.parameter is None:
            raise LogqlError(f"parameter required for operation {function}")
    elif call.parameter is not None:
        raise LogqlError(f"parameter {call.parameter:g} not supported for operation {function}")
    if call.unwrap is None and function not in _PLAIN:
        raise LogqlError(f"invalid aggregation {function} without unwrap")
    if call.unwrap is not None and function in ("count_over_time", "bytes_over_time", "bytes_rate"):
        raise LogqlError(f"invalid aggregation {function} with unwrap")

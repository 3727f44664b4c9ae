"""The grammar of jq and the tree that it builds.

The rules are those of jq 1.6, in an order and shape that make the same parser states, and so the same error messages.
Additions of later versions that people type (``if`` without ``else``, ``.a.[0]``, ``$end``, ``reduce … .a``) make a
second, wider grammar, tried only when the first one fails: so a program that neither accepts gets the message of 1.6.

An action takes the parser (for errors and positions) and the values of the rule's right side.
"""

from __future__ import annotations

from typing import Any

from simcloud.userland.jq.rules import (
    ACTIONS,
    BINDING,
    KEYWORDS,
    RULES,
    TOKENS,
    WIDER_ACTIONS,
    WIDER_RULES,
    Action,
    Parser,
    complain,
    first,
    nothing,
    rule,
    second,
)
from simcloud.userland.jq.tree import (
    DOT,
    Alternative,
    ArrayPattern,
    Bind,
    Call,
    Comma,
    Condition,
    Define,
    Definition,
    Each,
    Foreach,
    Index,
    Label,
    Literal,
    Logic,
    Node,
    ObjectPattern,
    Pipe,
    Reduce,
    Slice,
    Try,
    Update,
    Variable,
    VariablePattern,
    binary,
    collect,
    construct,
    label_variable,
)

__all__ = ["ACTIONS", "BINDING", "RULES", "TOKENS", "WIDER_ACTIONS", "WIDER_RULES"]


# -- programs ----------------------------------------------------------------------------------------------


def _program(_: Parser, __: Any, imports: Any, body: Node) -> Any:
    return imports, body


def _library(_: Parser, __: Any, imports: Any, definitions: list[Definition]) -> Any:
    body: Node = DOT
    for definition in reversed(definitions):
        body = Define(definition, body)
    return imports, body


def _module(parser: Parser, _: Any, metadata: Node, __: Any) -> None:
    if not isinstance(metadata, Literal):
        parser.complain("Module metadata must be constant")


def _import_with_metadata(parser: Parser, name: str, metadata: Node, _: Any) -> str:
    if not isinstance(metadata, Literal):
        parser.complain("Module metadata must be constant")
    elif not isinstance(metadata.value, dict):
        parser.complain("Module metadata must be an object")
    return name


def _import_from(parser: Parser, path: Node) -> str:
    if isinstance(path, Literal):
        return str(path.value)
    parser.complain("Import path must be constant")
    return ""


rule("TopLevel = Module Imports Exp", _program)
rule("TopLevel = Module Imports FuncDefs", _library)
rule("Module =", lambda _: None)
rule("Module = module Exp ;", _module)
rule("Imports =", lambda _: [])
rule("Imports = Import Imports", lambda _, a, rest: [a, *rest])
rule("FuncDefs =", lambda _: [])
rule("FuncDefs = FuncDef FuncDefs", lambda _, a, rest: [a, *rest])
rule("Import = ImportWhat ;", first)
rule("Import = ImportWhat Exp ;", _import_with_metadata)
rule("ImportWhat = import ImportFrom as $ IDENT", second)
rule("ImportWhat = import ImportFrom as IDENT", second)
rule("ImportWhat = include ImportFrom", second)
rule("ImportFrom = String", _import_from)
rule("FuncDef = def IDENT : Exp ;", lambda _, __, name, ___, body, ____: Definition(name, (), body))
rule("FuncDef = def IDENT ( Params ) : Exp ;", lambda _, *v: Definition(v[1], tuple(v[3]), v[6]))
rule("Params = Param", lambda _, name: [name])
rule("Params = Params ; Param", lambda _, names, __, name: [*names, name])
rule("Param = $ IDENT", lambda _, __, name: "$" + name)
rule("Param = $ Keyword", lambda _, __, name: "$" + name, since="1.7")
rule("Param = IDENT", first)


# -- expressions -------------------------------------------------------------------------------------------


def _operator(symbol: str) -> None:
    rule(f"Exp = Exp {symbol} Exp", lambda _, left, __, right: binary(symbol, left, right))


def _division(symbol: str, message: str) -> None:
    def action(parser: Parser, left: Node, _: Any, right: Node) -> Node:
        node = binary(symbol, left, right)
        if isinstance(node, Literal) and node.value in (float("inf"), float("-inf")):
            parser.complain(message)
        return node

    rule(f"Exp = Exp {symbol} Exp", action)


def _update(symbol: str) -> None:
    rule(f"Exp = Exp {symbol}= Exp", lambda _, left, __, right: Update(symbol, left, right))


def _negate(_: Parser, __: Any, body: Node) -> Node:
    return Pipe(body, Call("_negate", ()))


def _foreach(_: Parser, *v: Any) -> Node:
    return Foreach(v[1], v[3], v[5], v[7], v[9] if len(v) > 9 else DOT)


rule("Exp = FuncDef Exp", lambda _, definition, body: Define(definition, body), "FUNCDEF")
rule("Exp = Term as Patterns | Exp", lambda _, source, __, patterns, ___, body: Bind(source, patterns, body))
rule("Exp = reduce Term as Patterns ( Exp ; Exp )", lambda _, *v: Reduce(v[1], v[3], v[5], v[7]))
rule("Exp = foreach Term as Patterns ( Exp ; Exp ; Exp )", _foreach)
rule("Exp = foreach Term as Patterns ( Exp ; Exp )", _foreach)
rule("Exp = if Exp then Exp ElseBody", lambda _, *v: Condition(v[1], v[3], v[4]))
rule("Exp = if Exp then error", complain("Possibly unterminated 'if' statement", keep=1))
rule("Exp = try Exp catch Exp", lambda _, __, body, ___, handler: Try(body, handler))
rule("Exp = try Exp", lambda _, __, body: Try(body, None))
rule("Exp = try Exp catch error", complain("Possibly unterminated 'try' statement", keep=1))
rule("Exp = label $ IDENT | Exp", lambda _, *v: Label(v[2], v[4]))
rule("Exp = Exp ?", lambda _, body, __: Try(body, None))
rule("Exp = Exp = Exp", lambda _, left, __, right: Call("_assign", (left, right)))
rule("Exp = Exp or Exp", lambda _, left, __, right: Logic("or", left, right))
rule("Exp = Exp and Exp", lambda _, left, __, right: Logic("and", left, right))
rule("Exp = Exp // Exp", lambda _, left, __, right: Alternative(left, right))
_update("//")
rule("Exp = Exp |= Exp", lambda _, left, __, right: Call("_modify", (left, right)))
rule("Exp = Exp | Exp", lambda _, left, __, right: Pipe(left, right))
rule("Exp = Exp , Exp", lambda _, left, __, right: Comma(left, right))
_operator("+")
_update("+")
rule("Exp = - Exp", _negate)
_operator("-")
_update("-")
_operator("*")
_update("*")
_division("/", "Division by zero?")
_division("%", "Remainder by zero?")
_update("/")
_update("%")
for _symbol in ("==", "!=", "<", ">", "<=", ">="):
    _operator(_symbol)
rule("Exp = Term", first)
rule("ElseBody = elif Exp then Exp ElseBody", lambda _, *v: Condition(v[1], v[3], v[4]))
rule("ElseBody = else Exp end", second)
rule("ElseBody = end", nothing, since="1.7")
rule("ExpD = ExpD | ExpD", lambda _, left, __, right: Pipe(left, right))
rule("ExpD = - ExpD", _negate)
rule("ExpD = Term", first)


# -- strings -----------------------------------------------------------------------------------------------


def _string(_: Parser, *v: Any) -> Node:
    name, parts = (v[0], v[2]) if len(v) == 4 else ("text", v[1])
    node: Node = Literal("")
    for part in parts:
        if isinstance(part, str):
            node = binary("+", node, Literal(part))
        else:
            node = binary("+", node, Pipe(part[0], Call("format", (Literal(name),))))
    return node


rule("String = QQSTRING_START QQString QQSTRING_END", _string)
rule("String = FORMAT QQSTRING_START QQString QQSTRING_END", _string)
rule("QQString =", lambda _: [])
rule("QQString = QQString QQSTRING_TEXT", lambda _, parts, text: [*parts, text or ""])
rule(
    "QQString = QQString QQSTRING_INTERP_START Exp QQSTRING_INTERP_END",
    lambda _, parts, __, body, ___: [*parts, (body,)],
)


# -- terms -------------------------------------------------------------------------------------------------

_UNUSUAL_FIELD = 'try .["field"] instead of .field for unusually named fields'


def _index(text: str, term: int | None, key: int, *, field: bool = False, since: str = "1.6") -> None:
    """A rule for ``term[key]`` or ``term.key``, with and without a question mark behind."""

    def action(optional: bool) -> Action:
        def make(_: Parser, *v: Any) -> Node:
            return Index(DOT if term is None else v[term], Literal(v[key]) if field else v[key], optional)

        return make

    rule(f"Term = {text} ?", action(True), since=since)
    rule(f"Term = {text}", action(False), "NONOPT", since=since)


def _slice(text: str, start: int | None, stop: int | None) -> None:
    def action(optional: bool) -> Action:
        def make(_: Parser, *v: Any) -> Node:
            ends = [Literal(None) if place is None else v[place] for place in (start, stop)]
            return Index(v[0], Slice(*ends), optional)

        return make

    rule(f"Term = {text} ?", action(True))
    rule(f"Term = {text}", action(False), "NONOPT")


def _break(parser: Parser, _: Any, __: Any, name: str) -> Node:
    return Pipe(Variable(label_variable(name), parser.at), Call("error", ()))


def _name(parser: Parser, name: str) -> Node:
    constants: dict[str, Any] = {"false": False, "true": True, "null": None}
    return Literal(constants[name]) if name in constants else Call(name, (), parser.at)


def _keyword_variable(parser: Parser, _: Any, name: str) -> Node:
    if name == "__loc__":
        return Literal({"file": "<top-level>", "line": float(parser.line)})
    return Variable(name, parser.at)


rule("Term = .", nothing)
rule("Term = ..", lambda _, __: Call("recurse", ()))
rule("Term = break $ IDENT", _break)
rule("Term = break error", complain("break requires a label to break to"))
_index("Term FIELD", 0, 1, field=True)
_index("FIELD", None, 0, field=True)
_index("Term . String", 0, 2)
_index(". String", None, 1)
rule("Term = . error", complain(_UNUSUAL_FIELD))
rule("Term = . IDENT error", complain(_UNUSUAL_FIELD))
_index("Term [ Exp ]", 0, 2)
_index("Term . [ Exp ]", 0, 3, since="1.7")
rule("Term = Term [ ] ?", lambda _, term, *__: Each(term, True))
rule("Term = Term [ ]", lambda _, term, *__: Each(term, False), "NONOPT")
_slice("Term [ Exp : Exp ]", 2, 4)
_slice("Term [ Exp : ]", 2, None)
_slice("Term [ : Exp ]", None, 3)
rule("Term = LITERAL", lambda _, value: Literal(value))
rule("Term = String", first)
rule("Term = FORMAT", lambda _, name: Call("format", (Literal(name),)))
rule("Term = ( Exp )", second)
rule("Term = [ Exp ]", lambda _, __, body, ___: collect(body))
rule("Term = [ ]", lambda _, __, ___: Literal([]))
rule("Term = { MkDict }", lambda _, __, pairs, ___: construct(tuple(pairs)))
rule("Term = $ IDENT", lambda parser, _, name: Variable(name, parser.at))
rule("Term = $ __loc__", _keyword_variable)
for _word in KEYWORDS:
    if _word != "__loc__":
        rule(f"Term = $ {_word}", _keyword_variable, since="1.7")
rule("Term = IDENT", _name)
rule("Term = IDENT ( Args )", lambda parser, name, _, arguments, __: Call(name, tuple(arguments), parser.at))
rule("Term = ( error )", nothing)
rule("Term = [ error ]", nothing)
rule("Term = Term [ error ]", first)
rule("Term = { error }", nothing)
rule("Args = Arg", lambda _, argument: [argument])
rule("Args = Args ; Arg", lambda _, arguments, __, argument: [*arguments, argument])
rule("Arg = Exp", first)


# -- patterns ----------------------------------------------------------------------------------------------


def _check_key(parser: Parser, key: Node) -> None:
    if isinstance(key, Literal) and not isinstance(key.value, str):
        parser.complain_of_key(key.value)


def _make_key_pattern(parser: Parser, *v: Any) -> Any:
    _check_key(parser, v[1])
    return v[1], None, v[4]


rule("RepPatterns = RepPatterns ?// Pattern", lambda _, patterns, __, pattern: [*patterns, pattern])
rule("RepPatterns = Pattern", lambda _, pattern: [pattern])
rule("Patterns = RepPatterns ?// Pattern", lambda _, patterns, __, pattern: (*patterns, pattern))
rule("Patterns = Pattern", lambda _, pattern: (pattern,))
rule("Pattern = $ IDENT", lambda _, __, name: VariablePattern(name))
rule("Pattern = [ ArrayPats ]", lambda _, __, parts, ___: ArrayPattern(tuple(parts)))
rule("Pattern = { ObjPats }", lambda _, __, parts, ___: ObjectPattern(tuple(parts)))
rule("ArrayPats = Pattern", lambda _, pattern: [pattern])
rule("ArrayPats = ArrayPats , Pattern", lambda _, patterns, __, pattern: [*patterns, pattern])
rule("ObjPats = ObjPat", lambda _, part: [part])
rule("ObjPats = ObjPats , ObjPat", lambda _, parts, __, part: [*parts, part])
rule("ObjPat = $ IDENT", lambda _, __, name: (Literal(name), name, None))
rule("ObjPat = $ IDENT : Pattern", lambda _, __, name, ___, pattern: (Literal(name), name, pattern))
rule("ObjPat = IDENT : Pattern", lambda _, name, __, pattern: (Literal(name), None, pattern))
rule("ObjPat = Keyword : Pattern", lambda _, name, __, pattern: (Literal(name), None, pattern))
rule("ObjPat = String : Pattern", lambda _, key, __, pattern: (key, None, pattern))
rule("ObjPat = ( Exp ) : Pattern", _make_key_pattern)
rule("ObjPat = error : Pattern", complain("May need parentheses around object key expression"))
for _word in KEYWORDS:
    rule(f"Keyword = {_word}", first)


# -- objects -----------------------------------------------------------------------------------------------


def _variable_pair(parser: Parser, _: Any, name: str) -> Any:
    value = _keyword_variable(parser, None, name)
    return Literal(name), value


def _make_pair(parser: Parser, *v: Any) -> Any:
    _check_key(parser, v[1])
    return v[1], v[4]


def _doubtful_pair(parser: Parser, *_: Any) -> Any:
    parser.complain("May need parentheses around object key expression")
    return Literal(""), DOT


rule("MkDict =", lambda _: [])
rule("MkDict = MkDictPair", lambda _, pair: [pair])
rule("MkDict = MkDictPair , MkDict", lambda _, pair, __, pairs: [pair, *pairs])
rule("MkDict = error , MkDict", lambda _, __, ___, pairs: pairs)
rule("MkDictPair = IDENT : ExpD", lambda _, name, __, value: (Literal(name), value))
rule("MkDictPair = Keyword : ExpD", lambda _, name, __, value: (Literal(name), value))
rule("MkDictPair = String : ExpD", lambda _, key, __, value: (key, value))
rule("MkDictPair = String", lambda _, key: (key, None))
rule("MkDictPair = $ IDENT", _variable_pair)
rule("MkDictPair = $ Keyword", _variable_pair, since="1.7")
rule("MkDictPair = IDENT", lambda _, name: (Literal(name), Index(DOT, Literal(name), False)))
rule("MkDictPair = Keyword", lambda _, name: (Literal(name), Index(DOT, Literal(name), False)), since="1.7")
rule("MkDictPair = ( Exp ) : ExpD", _make_pair)
rule("MkDictPair = error : ExpD", _doubtful_pair)

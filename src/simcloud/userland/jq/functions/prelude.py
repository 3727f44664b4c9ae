"""Functions written in jq itself: those that take other functions, and those that work in paths.

Each is parsed and compiled only when a program uses it.
"""

from __future__ import annotations

import re
from functools import cache

from simcloud.userland.jq.parser import parse_program
from simcloud.userland.jq.tree import Define, Definition

SOURCE = r"""
def recurse(f): def r: ., (f | r); r;
def recurse(f; cond): def r: ., (f | select(cond) | r); r;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def isfinite: type == "number" and (isinfinite | not);
def finites: select(isfinite or isnan);
def normals: select(isnormal);
def map_values(f): .[] |= f;
def with_entries(f): to_entries | map(f) | from_entries;
def del(f): delpaths([path(f)]);
def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
def paths: path(recurse(if type | . == "array" or . == "object" then .[] else empty end)) | select(length > 0);
def paths(f): . as $top | paths | select(. as $p | $top | getpath($p) | f);
def leaf_paths: paths(scalars);
def sort_by(f): _sort_by_impl(map([f]));
def group_by(f): _group_by_impl(map([f]));
def unique: group_by(.) | map(.[0]);
def unique_by(f): group_by(f) | map(.[0]);
def min_by(f): _min_by_impl(map([f]));
def max_by(f): _max_by_impl(map([f]));
def add(f): reduce f as $x (null; . + $x);
def range($n): range(0; $n);
def range($from; $to; $by):
  def going: ($by > 0 and . < $to) or ($by < 0 and . > $to);
  $from | (if $by == 0 then . else def next: if going then ., (. + $by | next) else . end; next end)
        | select(going);
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def first(f): label $done | f | ., break $done;
def last(f): reduce f as $x (null; $x);
def nth($n; f): if $n < 0 then error("nth doesn't support negative indices") else last(limit($n + 1; f)) end;
def limit($n; f):
  if $n < 0 then f
  else label $done | foreach f as $x ($n; . - 1; $x, if . <= 0 then break $done else empty end)
  end;
def skip($n; f): if $n > 0 then foreach f as $x ($n; . - 1; if . < 0 then $x else empty end) else f end;
def until(cond; next): def go: if cond then . else next | go end; go;
def while(cond; next): def go: if cond then ., (next | go) else empty end; go;
def repeat(f): def go: f, go; go;
def isempty(f): 0 == ((label $done | f | 1, break $done) // 0);
def any(source; cond):
  [label $done | foreach source as $x (false;
    if . then break $done elif $x | cond then true else . end;
    if . then . else empty end)] | length == 1;
def all(source; cond):
  [label $done | foreach source as $x (true;
    if not then break $done elif $x | cond then . else false end;
    if not then . else empty end)] | length == 0;
def any: any(.[]; .);
def all: all(.[]; .);
def any(cond): any(.[]; cond);
def all(cond): all(.[]; cond);
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def IN(s): reduce (first(select(. == s)) | true) as $x (false; . or $x);
def IN(src; s): reduce (src | IN(s)) as $x (false; . or $x);
def INDEX(stream; f):
  reduce stream as $row ({}; .[$row | f | if type != "string" then tojson else . end] |= $row);
def INDEX(f): INDEX(.[]; f);
def walk(f):
  . as $in
  | if type == "object" then reduce keys_unsorted[] as $key ({}; . + {($key): ($in[$key] | walk(f))}) | f
    elif type == "array" then map(walk(f)) | f
    else f
    end;
def tostream: _tostream | .[];
def inputs: try repeat(_input) catch if . == "break" then empty else error end;
def debug(message): (message | debug | empty), .;
def match(re; flags): _match_impl(re; flags; false) | .[];
def match($re): _match($re) | .[];
def _captures: reduce (.captures[] | select(.name != null) | {(.name): .string}) as $pair ({}; . + $pair);
def capture(re; flags): match(re; flags) | _captures;
def capture($re): match($re) | _captures;
def scan($re; $flags):
  match($re; "g" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;
def scan(re): match(re; "g") | if (.captures | length) > 0 then [.captures[].string] else .string end;
def splits($re; flags):
  . as $text
  | ([match($re; "g" + flags) | .offset, .offset + .length] | [0] + . + [$text | length]) as $ends
  | range(0; $ends | length; 2) as $i | $text[$ends[$i]:$ends[$i + 1]];
def splits($re): splits($re; null);
def split($re; flags): [splits($re; flags)];
def _edits($in; text):
  . as $edits
  | [$edits[] | [_captures | text]]
  | if all(.[]; length == 1 and (.[0] | type) == "string") then
      . as $texts
      | ([0] + ($edits | map(.offset + .length))) as $starts
      | [range($texts | length) as $i | $in[$starts[$i]:$edits[$i].offset], $texts[$i][0]]
        + [$in[$starts[-1]:]]
      | join("")
    else null
    end;
def sub(re; text; flags):
  re as $re
  | (flags | index("g")) as $all
  | (flags | if $all then split("g") | join("") else . end) as $flags
  | def at_once:
      . as $in
      | [match($re; $flags + "g")]
      | if any(.[]; .length == 0) then null else _edits($in; text) end;
    def between: . as $in | [match($re; $flags + "g")] | unique_by(.offset) | _edits($in; text) // $in;
    def one_by_one:
      . as $in
      | [match($re; $flags)]
      | if length == 0 then $in
        else .[0] as $edit
        | ($edit.offset + $edit.length) as $stop
        | if $all and $stop == 0 then $in | between
          else $in[:$edit.offset] + ($edit | _captures | text)
               + ($in[$stop:] | if length > 0 and $all then one_by_one else . end)
          end
        end;
  (if $all and ($re | _stands_alone) then at_once else null end) // one_by_one;
def sub($re; text):
  . as $in
  | [match($re)]
  | if length == 0 then $in
    else .[0] as $edit
    | $in[:$edit.offset] + ($edit | _captures | text) + $in[$edit.offset + $edit.length:]
    end;
def gsub($re; text; $flags): sub($re; text; $flags + "g");
def gsub($re; text): sub($re; text; "g");
"""

_HEAD = re.compile(r"def ([A-Za-z_]+)(?:\(([^)]*)\))?:")


def _sources() -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = {}
    for text in re.split(r"\n(?=def )", SOURCE.strip()):
        head = _HEAD.match(text)
        assert head is not None, text
        found[head[1], len(head[2].split(";")) if head[2] else 0] = text
    return found


PRELUDE = _sources()


@cache
def definition(name: str, arity: int) -> Definition:
    """The definition of a function of the prelude."""
    tree = parse_program(PRELUDE[name, arity].encode())
    assert isinstance(tree, Define)
    return tree.definition

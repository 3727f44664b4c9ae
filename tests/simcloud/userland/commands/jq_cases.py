"""Command lines, documents and programs over Kubernetes lists for which jq is compared with the genuine one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One command line: its arguments and what comes from stdin."""

    args: list[str]
    stdin: bytes = b""


def programs() -> dict[str, list[str]]:
    """The programs of the case list, by section."""
    sections: dict[str, list[str]] = {}
    name = ""
    for line in (Path(__file__).parent / "jq_programs.cases").read_text().splitlines():
        if line.startswith("# -- "):
            name = line.removeprefix("# -- ")
        elif line and not line.startswith("# "):
            sections.setdefault(name, []).append(line)
    return sections


def _pod(name: str, namespace: str, phase: str, restarts: int, **more: Any) -> dict[str, Any]:
    container = {
        "name": name.rpartition("-")[0],
        "image": f"registry.local/{name.rpartition('-')[0]}:1.{restarts}",
        "resources": {"limits": {"cpu": f"{250 * (restarts + 1)}m", "memory": "128Mi"}},
        "env": [
            {"name": "MODE", "value": "fast"},
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "t"}}},
        ],
        "ports": [{"containerPort": 8080 + restarts, "protocol": "TCP"}],
    }
    status: dict[str, Any] = {
        "phase": phase,
        "podIP": f"10.0.0.{restarts + 1}",
        "conditions": [{"type": "Ready", "status": "True" if phase == "Running" else "False"}],
        "containerStatuses": [
            {"name": container["name"], "restartCount": restarts, "ready": phase == "Running"}
        ],
    }
    if phase == "Pending":
        del status["containerStatuses"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": container["name"], "tier": "front"},
            "creationTimestamp": f"2024-01-0{restarts % 9 + 1}T00:00:00Z",
            **more,
        },
        "spec": {"nodeName": f"node-{restarts % 2}", "containers": [container]},
        "status": status,
    }


PODS = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        _pod("web-7f9c", "default", "Running", 0),
        _pod("web-8a1d", "default", "Running", 7, annotations={"team/owner": "wéb"}),
        _pod("db-0", "prod", "Pending", 2),
        _pod("cache-x1", "prod", "CrashLoopBackOff", 41),
    ],
}

POD_PROGRAMS = """
.items[].metadata.name
.items | length
.items[0] | keys
.items[] | .metadata.namespace + "/" + .metadata.name
.items[] | select(.status.phase != "Running") | .metadata.name
[.items[] | select(.status.phase == "Running")] | length
.items[] | {name: .metadata.name, phase: .status.phase}
.items[] | "\\(.metadata.name) \\(.status.phase) \\(.status.podIP)"
.items | map(.metadata.name) | join(",")
.items | group_by(.metadata.namespace) | map({ns: .[0].metadata.namespace, n: length})
.items | sort_by(.status.containerStatuses[0].restartCount) | .[].metadata.name
.items | max_by(.status.containerStatuses[0].restartCount) | .metadata.name
.items[] | [.metadata.name, .status.phase, (.status.containerStatuses[0].restartCount // 0)] | @tsv
.items[] | [.metadata.name, .status.phase] | @csv
[.items[].spec.containers[].image] | unique
.items[].spec.containers[] | .image | split(":") | .[1]
.items[] | select(.metadata.labels.app == "web") | .spec.nodeName
.items[] | select(.metadata.name | test("^web-")) | .metadata.name
.items[] | select(.metadata.name | startswith("db")) | .status.conditions[] | select(.type == "Ready") | .status
[.items[].status.containerStatuses[]?.restartCount] | add
.items[].status.containerStatuses[].restartCount
.items[] | .metadata.annotations."team/owner" // "none"
.items[] | .metadata | del(.labels, .creationTimestamp)
.items[0].spec.containers[0].env | from_entries
.items[0].spec.containers[0].env | map({(.name): (.value // "secret")}) | add
.items | INDEX(.metadata.name) | keys
reduce .items[] as $p ({}; .[$p.spec.nodeName] += 1)
.items | map({(.metadata.name): .status.podIP}) | add
.items |= map(select(.status.phase == "Running")) | .items | length
.items[].spec.containers[].resources.limits.cpu |= (rtrimstr("m") | tonumber) | [.items[].spec.containers[0].resources.limits.cpu]
[.. | .image? // empty] | length
[.. | strings | select(startswith("10."))]
[paths(type == "boolean")] | length
[paths] | map(length) | max
[leaf_paths | join(".")?] | length
.items[] | to_entries | map(.key) | join(" ")
.items[] | .metadata.creationTimestamp | fromdate
.items | map(.metadata.creationTimestamp | fromdate) | (max - min) / 86400
.items | to_entries[] | "\\(.key): \\(.value.metadata.name)"
[.items[] | .spec.containers | length] | add / length
.items[1:3] | map(.metadata.name)
.items[-1].metadata.name
.items | first, last | .metadata.name
[limit(2; .items[])] | map(.kind)
.items | any(.status.phase == "Pending"), all(.kind == "Pod")
.items[] | if .status.phase == "Running" then "ok" elif .status.phase == "Pending" then "wait" else "bad" end
.items[] | try (.status.containerStatuses[0].restartCount / 0) catch .
.items[] | .nope.deeper
.items[].metadata.labels | with_entries(.value |= ascii_upcase)
.items | map(.status.phase) | unique | @json
.items[] | @base64 "\\(.metadata.name)"
.items[0] | @text, @json | length
.items[0].metadata | tostream | select(length == 2) | "\\(.[0] | join("."))=\\(.[1])"
[.items[] | .metadata.name as $n | .spec.containers[] | {pod: $n, image}]
.items[] as {metadata: {name: $n}, status: {phase: $p}} | "\\($n)=\\($p)"
.items | map(select(has("spec"))) | map(.spec | has("nodeName")) | all
.items[] | select(.spec.containers[].ports[].containerPort > 8081) | .metadata.name
walk(if type == "object" then del(.labels, .env, .resources) else . end) | .items[0]
.items | map(.metadata.name | sub("-[^-]+$"; "")) | unique
.items | [.[] | .metadata.name | capture("(?<app>[a-z]+)-(?<id>.*)")]
.items | map(.metadata.name | gsub("[0-9]"; "#"))
.items[0].metadata.name |= "renamed" | .items[0].metadata.name
del(.items[] | select(.metadata.namespace == "prod")) | .items | map(.metadata.name)
.items[].metadata.foo
.items[].foo[]
.items.metadata
.items["a"]
.[0]
.items[] | .status.podIP | split(".") | map(tonumber) | add
input_filename
.items | map(.status.podIP) | sort | reverse
.items | @json "x \\(length)"
[.items[] | select(.status.containerStatuses) | .status.containerStatuses[0] | select(.restartCount > 5) | .name] | sort
""".strip().splitlines()

POD_OPTIONS: list[list[str]] = [
    [],
    ["-r"],
    ["-c"],
    ["-rc"],
    ["-S"],
    ["-C"],
    ["-j"],
    ["--tab"],
    ["-e"],
    ["-s", "-c"],
]

FILES = {
    "pods.json": json.dumps(PODS, indent=4).encode(),
    "one.json": b'{"a":1,"b":[1,2]}\n',
    "two.json": b"[3]\n",
    "lines.txt": b"line1\nline2\nline3",
    "program.jq": b"# the first field\n.a\n",
    "broken.jq": b"1 +\n foo +\n\n  bar(1)\n",
    "unclosed.jq": b"1 +\n foo +\n\n  bar(1",
    "bad.json": b'{"a": tru}',
}

DOCUMENTS = [
    *(
        b"1[2]",
        b'1{"a":2}',
        b'"a"[1]',
        b"[1]2",
        b'1"a"2',
        b"Infinity -Infinity",
        b"-nan",
        b"+nan",
        b"nan",
        b"inf",
    ),
    *(
        b"[NaN]",
        b"-",
        b".",
        b"+",
        b"1e",
        b"1e+",
        b"1e5",
        b"0x10",
        b"1_0",
        b"tru",
        b"true1",
        b"truefalse",
        b"nul",
    ),
    *(
        b"null1",
        b"'a'",
        b'{"a" 1}',
        b'{"a":1 "b":2}',
        b"{1:2}",
        b'{"a":}',
        b"{,}",
        b"[,]",
        b"[1,]",
        b'{"a":1,}',
    ),
    *(
        b"[1 2]",
        b"]",
        b"}",
        b":",
        b",",
        b"1,2",
        b"[1:2]",
        b'{"a":1:2}',
        b'{"a"}',
        b'{"a",}',
        b'["a',
        b"[1",
        b'{"a":1',
    ),
    *(
        b'"\\x"',
        b'"\\u12"',
        b'"\\u12zz"',
        b'"\\ud800"',
        b'"\\udc00"',
        b'"\\ud800\\u0041"',
        b'"\\ud83d\\ude00"',
    ),
    *(
        b'"a\nb"',
        b'"a\tb"',
        b'"\x01"',
        b"[1\n,\n\n2\nfoo]",
        b'\n\n{"a":\n bar\n}',
        b"\xef\xbb\xbf1",
        b"\xef\xbb1",
    ),
    *(
        b'"\xff\xfe"',
        b'"\xe0\x80\x80x"',
        b'"\xe2A"',
        b'"\xed\xa0\x80"',
        b'"\xf5x"',
        b"1 2 3",
        b"",
        b" ",
        b"\n",
        b'"',
    ),
    *(
        b'{"a":1,"b":2,"a":3}',
        b"123456789012345678901234567890",
        b"1.0 1.50 1e2 -0",
        b'"\\',
        b'"\\"',
        b"nan1",
    ),
    *(
        b"NaN1",
        b"1.2.3",
        b"--1",
        b"1-1",
        b"truee",
        b"[true,false,null]",
        b"falsey",
        b"# x",
        b"/*x*/1",
        b"[1]]",
    ),
    *(
        b'{"a":[1}',
        b'[{"a":1]',
        b'{"a":{"b":1}',
        b'{"a":"b"',
        b'{"\\ud800":1}',
        b"[" * 256 + b"]" * 256,
        b"[" * 257,
    ),
    *(
        b'{"a":' * 128 + b"1" + b"}" * 128,
        b'{"a":' * 129 + b"1" + b"}" * 129,
        b'"\\ud83d\\ude0"',
        b'"\\u00g0"',
    ),
    *(
        b'"a\x7fb\\u0000\\/"',
        b'1\n2\n{"a":3}\n\n"x"  \n3 4\n',
        b'{"a":"' + b"x" * 9000 + b'"}\n[1\n',
        b"[1,2] \n {}",
    ),
]
"""Texts for ``jq -c .``: all that a reader may stumble over."""

COMMAND_LINES = [
    Case(["-rc", ".a", "one.json"]),
    Case(["-cr", ".", "one.json", "two.json"]),
    Case(["-s", "-c", ".", "one.json", "two.json"]),
    Case(["-n", "[inputs]", "-c", "one.json", "two.json"]),
    Case(["-n", "[inputs | input_filename]", "-c", "one.json", "two.json"]),
    Case(["-R", ".", "lines.txt"]),
    Case(["-Rs", ".", "lines.txt"]),
    Case(["-Rn", "[inputs]", "-c", "lines.txt"]),
    Case(["-Rr", ".", "lines.txt"]),
    Case(["-R", "-c", "[., input]"], b"a\nb\n\nc"),
    Case(["-Rn", "input, input_line_number"], b"a\nb"),
    Case(["-f", "program.jq", "one.json"]),
    Case(["--from-file", "program.jq", "one.json"]),
    Case(["-rf", "program.jq"], b"1\n"),
    Case(["one.json", "-f", "program.jq"]),
    Case(["-n", "-f", "broken.jq"]),
    Case(["-n", "-f", "unclosed.jq"]),
    Case(["-nf"]),
    Case(["-f", "nofile"]),
    Case(["--arg", "a", "1", "-n", "$a"]),
    Case(["-n", "--arg", "a"]),
    Case(["-n", "--arg", "a", "b"]),
    Case(["--arg", "a", "1", "--arg", "a", "2", "-n", "$a"]),
    Case(["-n", "--argjson", "a", '{"x":1}', "$a", "-c"]),
    Case(["-n", "--argjson", "a", "{x", "$a"]),
    Case(["--argjson", "a"]),
    Case(["-n", "--slurpfile", "a", "one.json", "$a", "-c"]),
    Case(["-n", "--rawfile", "a", "lines.txt", "$a"]),
    Case(["-n", "--slurpfile", "a", "nofile", "$a"]),
    Case(["-n", "--rawfile", "a", "nofile", "$a"]),
    Case(["-n", "--slurpfile", "a", "bad.json", "$a"]),
    Case(["-n", "-c", "$ARGS", "--args", "a", "b"]),
    Case(["-n", "-c", "$ARGS", "--jsonargs", "1", '{"a":2}']),
    Case(["-nc", "[$ARGS.positional, $x]", "--args", "1", "--arg", "x", "2", "3"]),
    Case(["-n", "--args", "$ARGS", "a", "b", "-c"]),
    Case(["--args", "$ARGS", "-nc", "--", "-x", "--y"]),
    Case(["-n", "$ARGS.named", "--arg", "x", "1", "--argjson", "y", "2", "-c"]),
    Case(["-n", "$named", "--arg", "x", "1"]),
    Case(["-e", ".", "/dev/null"]),
    *(
        Case(["-en", program])
        for program in ("null", "false", "1", "empty", "1,null", 'error("x")', '"a"|halt_error')
    ),
    Case(["-e", ".a"], b'{"a":1} {"a":null}'),
    Case(["-e", "if .b then empty else .a end"], b'{"a":null} {"b":1}'),
    Case(["-ce", ".a"], b'null {"a":null} {"a":1} }'),
    Case(["-c", ".a"], b'1 {"a":1}'),
    Case(["-c", ".a"], b'{"a":1} 1'),
    Case(["-c", ".a"], b'{"a":1} 1 {"a":2}'),
    Case(["-j", ".", "one.json", "two.json"]),
    Case(["-jn", '1,"a",2']),
    Case(["-rn", r'"a\nb"']),
    Case(["-an", '"é😀"']),
    Case(["-S", ".", "-c"], b'{"b":1,"a":{"d":1,"c":2}}'),
    Case(["--tab", ".", "two.json"]),
    Case(["--indent", "5", ".", "two.json"]),
    Case(["--indent", "0", ".", "one.json"]),
    Case(["--indent", "-1", ".", "one.json"]),
    Case(["--indent", "x", ".", "one.json"]),
    Case(["--indent", "3", "--tab", ".", "one.json"]),
    Case(["--indent", "3", "-c", ".", "one.json"]),
    Case(["-c", "--indent", "3", ".", "one.json"]),
    Case(["--indent"]),
    Case(["--indent", "9", "."]),
    Case(["-h"]),
    Case(["--help"]),
    Case(["--version"]),
    Case(["-V"]),
    *(Case([option, "."]) for option in ("-X", "-nX", "--foo", "-rr", "--foo=1", "-nL", "--nul-output")),
    Case([".", "nofile"]),
    Case([".", "nofile", "two.json"]),
    Case([".", "two.json", "nofile"]),
    Case(['error("x")', "one.json", "nofile"]),
    Case([".", "."]),
    Case([]),
    Case([], b"[1]"),
    Case(["-n"]),
    Case(["-n", "1", "2", "3"]),
    Case([".", "--", "two.json"]),
    Case(["--", ".", "two.json"]),
    Case([".", "-"], b"1"),
    Case(["-", "."], b"1"),
    Case(["-L", "/tmp", "-n", "1"]),
    Case(["-L/tmp", "-n", "1"]),
    Case(["-L"]),
    Case(["--unbuffered", "--raw-output", "-n", '"x"']),
    Case(["--null-input", "--compact-output", "[1]"]),
    Case(["--ascii-output", "--sort-keys", "--monochrome-output", "-n", '{b:"é",a:1}']),
    Case(["--exit-status", "--join-output", "-n", "null"]),
    Case(["--slurp", "--raw-input", ".", "lines.txt"]),
    Case(["-s", ".", "/dev/null", "-c"]),
    Case(["-Rs", ".", "/dev/null"]),
    Case(["-s", "."], b"1 2 }"),
    Case(["-C", "."], json.dumps(PODS["items"][1]).encode()),
    Case(["-Cc", "."], b'{"a":[1,"x",null,true,false,{"b":[]},{}],"c":{"d":1.5}}'),
    Case(["-C", "--tab", "-S", "."], b'{"b":[1,{}],"a":[]}'),
    Case(["-C", "-c", "[1]|debug"], b"1"),
    Case([".a.b"], b'{"a":1}'),
    Case(["-c", "input_line_number"], b'1\n2\n{"a":3}\n\n"x"  \n3 4\n'),
    Case(["-c", ".a.b.c"], b'1\n2\n{"a":3}\n\n"x"  \n3 4\n'),
    Case(["-n", "input.a,input_line_number,(input.a),input_line_number"], b'{"a":1}\n{"a":2}\n'),
    Case(["-n", "first(inputs)|.a"], b'{"a":1}\n{"a":2}\n'),
    Case(["-n", "reduce inputs as $x (0;.+$x.a)"], b'{"a":1}\n{"a":2}\n'),
    Case(["input.a"], b'{"a":1}\n{"a":2}\n'),
    Case(["-c", '[., (try input catch "none")]'], b"1 2 3"),
    *(Case(["-n", "input,input,input"], data) for data in (b"1\n2\n", b"1\n2", b"")),
    *(Case(["-n", '[inputs], error("x")', "-c"], data) for data in (b"1\n2\n", b"1\n2", b"1 2 x")),
    Case(["-cn", "[inputs]"], b"tru"),
    Case(["input"], b"null\n"),
    Case(["input"], b"null"),
    *(Case(args, b"1 2 3") for args in (["., halt"], ["if .==2 then halt else . end"], ["-e", "null, halt"])),
    *(
        Case([program], b"1 2 3")
        for program in ('"x\n"|halt_error', "debug", "stderr", "error", "null|error")
    ),
    *(
        Case(["-n", program])
        for program in ('"a"|halt_error(256)', '"a"|halt_error(-1)', "null|halt_error", "{}|halt_error")
    ),
    Case(["-c", '[.,"é"]|debug|empty'], b"1"),
    Case(["-c", r'"é\n"|stderr|empty'], b"1"),
    *(
        Case([f'{flag} error("x")'.strip()] if not flag else [flag, 'error("x")'], b"1\n2")
        for flag in ("", "-s", "-R", "-Rs")
    ),
]

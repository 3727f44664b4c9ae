"""What models write, and the call that is read out of it."""

from typing import Any

import pytest

from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.utils.status import ResponseParsingError

KNOWN = ("exec_shell", "get_logs", "get_metrics", "submit")
PATCH = (
    "kubectl patch svc user-service -n test-social-network --type='json' "
    '-p=\'[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9090}]\''
)


def read(response: str, known: tuple[str, ...] | None = KNOWN) -> tuple[str, list[Any], dict[str, Any]]:
    parsed = ResponseParser(known).parse(response)
    assert sorted(parsed) == ["api_name", "args", "context", "kwargs"]
    return parsed["api_name"], parsed["args"], parsed["kwargs"]


def refused(response: str, known: tuple[str, ...] | None = KNOWN) -> str:
    with pytest.raises(ResponseParsingError) as error:
        ResponseParser(known).parse(response)
    return str(error.value)


def test_react_with_plain_text() -> None:
    response = "Thought: hm.\nAction: exec_shell\nAction Input: kubectl get pods -A\nObservation:"
    assert read(response) == ("exec_shell", ["kubectl get pods -A"], {})


LS = ("exec_shell", ["ls"], {})


@pytest.mark.parametrize("known", [KNOWN, None])
@pytest.mark.parametrize(
    "response",
    [
        'exec_shell("ls")',
        '```\nexec_shell("ls")\n```',
        '```python\nexec_shell("ls")\n```',
        '```bash\nexec_shell("ls")```',
        '```exec_shell("ls")```',
        '```python exec_shell("ls") ```',
        '    ```\n    exec_shell("ls")\n    ```',
        '~~~\nexec_shell("ls")\n~~~',
        '````\nexec_shell("ls")\n````',
        '```\nexec_shell("ls")',
        'I look first.\n```\nexec_shell("ls")\n```\nThen I think.',
        'I look: exec_shell("ls") and then think.',
        'I look with `exec_shell("ls")`.',
        '``exec_shell("ls")```',
        '```\r\nexec_shell("ls")\r\n```\r\n',
        '```\n>>> exec_shell("ls");\n```',
        '{"thought": "look", "action": "exec_shell(\\"ls\\")"}',
        "exec_shell('ls')",
        'exec_shell("""ls""")',
        "exec_shell('''ls''')",
        'exec_shell(r"ls")',
        'exec_shell (\n    "ls",\n)',
        'exec_shell("l" "s")',
        'exec_shell(\n  "l"  # a comment\n  + "s"\n)',
        "exec_shell(“ls”)",
        "exec_shell(‘ls’)",
        r"exec_shell(\"ls\")",
        'await actions.exec_shell("ls")',
        '```\nresult = exec_shell("ls")\nprint(result)\n```',
        '```\n# not get_logs("a", "b")\nexec_shell("ls")  # but this\n```',
        'Thought: or get_logs("a", "b")?\nAction: exec_shell("ls")',
        '**Action:** `exec_shell("ls")`',
        'Action:\nexec_shell("ls")',
        '1. get_logs("a", "b")\n2. submit()\n\nAction 1: exec_shell("ls")',
        '<tool_call>exec_shell("ls")</tool_call>',
        '<action>\nexec_shell("ls")\n</action>',
        '<think>Maybe submit() or get_logs("a", "b")?</think>\nexec_shell("ls")',
        'get_logs("a", "b") it could be.</think>\n\n```\nexec_shell("ls")\n```',
        'Not `get_logs("a", "b")`:\n```\nexec_shell("ls")\n```\nand never `submit("Yes")`.',
        'exec_shell("ls")\n\nexec_shell("ls")',
        '```\nexec_shell("ls")\n```\nAgain:\n```\nexec_shell("ls")\n```',
        '```\nkubectl get pods\n```\nor rather\nexec_shell("ls")',
    ],
)
def test_one_call_in_every_dress(response: str, known: tuple[str, ...] | None) -> None:
    assert read(response, known) == LS


@pytest.mark.parametrize(
    "response",
    [
        '<tool_call>\n{"name": "exec_shell", "arguments": {"command": "ls"}}\n</tool_call>',
        '```json\n{"name": "exec_shell", "arguments": {"command": "ls"}}\n```',
        '{"tool_calls": [{"function": {"name": "exec_shell", "arguments": "{\\"command\\": \\"ls\\"}"}}]}',
        '```\n{"api_name": "exec_shell", "args": [], "kwargs": {"command": "ls"}}\n```',
        '{"action": "exec_shell", "action_input": {"command": "ls"}}',
        'I look.\nAction: exec_shell\nAction Input: {"command": "ls"}',
        "<tool_call>\n<function=exec_shell>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
        '<invoke name="exec_shell"><parameter name="command">ls</parameter></invoke>',
        'exec_shell(command="ls")',
        'exec_shell(command: "ls")',
    ],
)
def test_arguments_by_name_and_as_data(response: str) -> None:
    assert read(response) == ("exec_shell", [], {"command": "ls"})


@pytest.mark.parametrize(
    ("response", "command"),
    [
        (r"""exec_shell("kubectl patch svc user-service -n test-social-network --type='json' -p='[{\"op\": \"replace\", \"path\": \"/spec/ports/0/targetPort\", \"value\": 9090}]'")""", PATCH),
        (f'exec_shell("""{PATCH}""")', PATCH),
        (f'exec_shell("{PATCH}")', PATCH),
        ("exec_shell(\"" + PATCH.replace('"', '\\\\"') + '")', PATCH),
        (f"exec_shell('{PATCH}')", PATCH),
        ('exec_shell("grep "a b" file", timeout=5)', 'grep "a b" file'),
        ('exec_shell("echo "a", "b"")', 'echo "a", "b"'),
        ("exec_shell('echo it's')", "echo it's"),
        ('exec_shell("cat <<EOF\n  key: "value"\nEOF")', 'cat <<EOF\n  key: "value"\nEOF'),
        ("exec_shell('cat > f <<EOF\na\n\nb\nEOF')", "cat > f <<EOF\na\n\nb\nEOF"),
        ('exec_shell("""cat > f.md <<EOF\n```\ncode\n```\nEOF""")', "cat > f.md <<EOF\n```\ncode\n```\nEOF"),
        (r'''exec_shell("sed 's/\(a\)/\1/' f | grep '\bx\b\|y'")''', r"sed 's/\(a\)/\1/' f | grep '\bx\b\|y'"),
        (r'exec_shell("printf \"a\tb\\n\" \u00fc \ud83d\ude00")', 'printf "a\tb\\n" ü 😀'),
        ("exec_shell(“echo ‘a’”)", "echo 'a'"),
        ('exec_shell("mongosh --eval "db.getUsers()"")', 'mongosh --eval "db.getUsers()"'),
        ('exec_shell("awk \'{print $1}\' f | sort (x)")', "awk '{print $1}' f | sort (x)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "```\n{}\n```", "Now I repair it.\n\n```bash\n{}\n```\nLet me see."])
def test_commands_with_every_kind_of_quote(response: str, command: str, frame: str) -> None:
    assert read(frame.replace("{}", response))[1] == [command]


@pytest.mark.parametrize(
    ("call", "args", "kwargs"),
    [
        ("submit()", [], {}),
        ('submit("Yes")', ["Yes"], {}),
        ('submit(["a", "b",])', [["a", "b"]], {}),
        ('submit(("a", "b"))', [["a", "b"]], {}),
        ("submit([])", [[]], {}),
        ('submit({"system_level": "Application", "fault_type": "Misconfiguration"})',
         [{"system_level": "Application", "fault_type": "Misconfiguration"}], {}),
        ('submit(has_anomaly="Yes")', [], {"has_anomaly": "Yes"}),
        ('submit(faulty_components=["a"])', [], {"faulty_components": ["a"]}),
        ("submit(analysis={'a': {'b': [1, 2.5, -3, 1e3, 0x10, 1_000]}})", [],
         {"analysis": {"a": {"b": [1, 2.5, -3, 1000.0, 16, 1000]}}}),
        ("submit(True, False, None, true, false, null)", [True, False, None, True, False, None], {}),
        ("submit(-1, +2, .5)", [-1, 2, 0.5], {}),
    ],
)  # fmt: skip
def test_values_of_python_and_of_json(call: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    _, seen_args, seen_kwargs = read(call)
    assert repr((seen_args, seen_kwargs)) == repr((args, kwargs))


def test_context_is_the_text_around_the_block() -> None:
    parse = ResponseParser().parse
    assert parse('Before.\n\n```\nsubmit("Yes")\n```\nAfter.')["context"] == ["Before.", "After."]
    assert parse('Before: `submit("Yes")`')["context"] == ["Before:"]
    assert parse("submit()")["context"] == []
    assert parse('``submit("Yes")```')["context"] == []
    assert parse("<think>Hm.</think>submit()")["context"] == ["<think>Hm.</think>"]


def test_two_different_calls_are_refused() -> None:
    for response in (
        '```\nexec_shell("ls")\nexec_shell("pwd")\n```',
        '```\nexec_shell("ls")\n```\nthen\n```\nsubmit()\n```',
        'exec_shell("ls")\nget_logs("a", "b")',
        'First exec_shell("ls"), then get_logs("a", "b").',
        'exec_shell("ls") or exec_shell("pwd")',
        '```python\nfound = exec_shell("ls")\nif "x" in found:\n    submit("Yes")\n```',
        'Action: exec_shell("ls")\nObservation: a b\nAction: submit("Yes")',
        "```\nsubmit(1)\n```\n```\nsubmit(True)\n```",
    ):
        told = refused(response)
        assert "two different calls" in told
        assert "Send one call per response" in told


@pytest.mark.parametrize(
    "response",
    ["", "   \n", "All is well.", "foo (bar)", "print(x)", "((((", "I will call submit() when I am done.",
     "Use service(s) such as geo.", "```\nkubectl get pods\n```", '{"kind": "Pod", "name": "submit-1"}', "()",
     '<think>submit("Yes")</think>'],
)  # fmt: skip
def test_no_call_is_an_error_with_an_example(response: str) -> None:
    told = refused(response)
    assert "contains no call" in told
    assert ResponseParser().parse(told)["api_name"] == "exec_shell", "the example is itself a call"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ('```\nexec_shell("ls)\n```\nnot `get_logs("a", "b")`', 'begins with " is not closed'),
        ('exec_shell("ls"', "closing ) is missing"),
        ("exec_shell(", "is incomplete"),
        ("submit(Yes)", "Yes is neither in quotes"),
        ("get_logs(namespace, service)", "namespace is neither in quotes"),
        ('exec_shell("echo "a", "b")', "not escaped"),
        ('get_logs(namespace="a" service="b")', "a comma or ) is missing"),
        ('exec_shell("x" if y else "z")', "a comma or ) is missing"),
        ('exec_shell(command="a", command="b")', "command is given twice"),
        ('exec_shell(command="a", 5)', "follows a keyword argument"),
        ("submit(" + "[" * 100_000, "nested more than"),
        ("submit(" + "9" * 100_000 + ")", "an invalid number"),
        ("submit(1.2.3)", "an invalid number"),
        ("submit({[1]: 2})", "cannot be the key"),
        ("submit({1: 2, 3})", "a key without a value"),
        ("submit(*a)", "no value begins with *"),
    ],
)
def test_a_call_that_cannot_be_read_says_why(response: str, reason: str) -> None:
    told = refused(response)
    assert reason in told
    assert "for example" in told


def test_a_name_nobody_offers_is_left_to_the_session() -> None:
    assert read('```\nget_pods("default")\n```')[0] == "get_pods"
    assert read('get_pods("default")')[0] == "get_pods"
    assert read('```\nprint("looking")\nlook("here")\nexec_shell("ls")\n```') == LS


def test_only_text_of_a_sensible_length_is_read() -> None:
    assert "not NoneType" in refused(None)
    assert "the limit is 200000" in refused('exec_shell("ls")' * 100_000)

"""How models of many makes write their one call: as their prompts, their training or their servers taught them."""

from typing import Any

import pytest

from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.utils.status import ResponseParsingError

KNOWN = ("exec_shell", "get_logs", "get_metrics", "submit")
CALL = 'exec_shell("kubectl get pods -A")'
COMMAND = "kubectl get pods -A"
AS_DATA = '{"name": "exec_shell", "arguments": {"command": "kubectl get pods -A"}}'


def read(response: str) -> tuple[str, list[Any], dict[str, Any]]:
    found = ResponseParser(KNOWN).parse(response)
    return found["api_name"], found["args"], found["kwargs"]


def refused(response: str) -> str:
    with pytest.raises(ResponseParsingError) as error:
        ResponseParser(KNOWN).parse(response)
    return str(error.value)


# -- thoughts and actions ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    [
        f"Thought: I look.\nAction: {CALL}\nObservation:",
        f"Thought: I look.\nAction:```\n{CALL}\n```",
        f"**Thought:** I look.\n\n**Action:** {CALL}",
        f"**Action**: `{CALL}`",
        f"### Thought\nI look.\n\n### Action\n{CALL}",
        f"## Next Action\n```python\n{CALL}\n```\n",
        f"I will run **{CALL}**",
        f"🔍 Action: {CALL}",
        f"Action - {CALL}",
        f"Next step: {CALL}",
        f"> {CALL}",
        f"| step | action |\n|---|---|\n| 1 | {CALL} |",
        f"Thought: x\r\nAction:\r\n```\r\n{CALL}\r\n```\r\n",
        f"\u200b{CALL}\u200b",
        f'1. exec_shell("a")\n2. submit("Yes")\n\nAction: {CALL}',
        f'- look with `get_logs("ns", "svc")`\n- then `submit("Yes")`\n\n```\n{CALL}\n```',
        f'{CALL}\n\nAfter that I will call submit("Yes").',
        f'I ran exec_shell("ls") before. Now:\n\n{CALL}',
        f'The last output said "use get_logs(ns, svc)". {CALL}',
        '{"thought": "I look", "action": "exec_shell(\\"kubectl get pods -A\\")"}',
        'Action:\n```json\n{"action": "exec_shell", "action_input": "kubectl get pods -A"}\n```',
        'Action: exec_shell\nAction Input: "kubectl get pods -A"',
    ],
)
def test_a_thought_and_an_action(response: str) -> None:
    assert read(response) == ("exec_shell", [COMMAND], {})


@pytest.mark.parametrize(
    "response",
    [
        f'<think>I could submit("Yes") now.</think>\n{CALL}',
        f'<think>\n```\nsubmit("Yes")\n```\n</think>\n```\n{CALL}\n```',
        f'Maybe submit("Yes")?\n</think>\n\n```\n{CALL}\n```',
        f'<think>First I look, then I submit("Yes").\n```\n{CALL}\n```',
        f'<thought>Then submit("Yes").\nAction: {CALL}',
        f'<reasoning>Or submit("Yes")?\n<action>{CALL}</action>',
    ],
)
def test_what_is_only_thought_is_not_done(response: str) -> None:
    assert read(response) == ("exec_shell", [COMMAND], {})


def test_a_thought_that_breaks_off_does_nothing() -> None:
    assert "contains no call" in refused('<think>Users fail, so I could submit("Yes") now.\nsubmit("Yes")\n')


# -- several blocks, of which one is meant -------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    [
        f"The command is\n```bash\nkubectl get pods -A\n```\nso I call\n```python\n{CALL}\n```",
        f"```\n{CALL}\n```\nI expect\n```\nNAME (all) READY\nuser (1/1) Running\n```",
        f"```yaml\nkind: Service\nspec: {{}}\n```\n```\n{CALL}\n```",
        f"```python\ndef f(x):\n    return g(x)\n```\n```\n{CALL}\n```",
        f'```bash\nkubectl exec x -- mongo --eval "db.getUsers()"\n```\n{CALL}',
        f'The container is\n```json\n{{"name": "nginx", "args": ["-g"]}}\n```\n{CALL}',
        f"``` python\n{CALL}\n```",
        f'```python title="a.py"\n{CALL}\n```',
        f"```tool_code\nprint({CALL})\n```",
        f"```\n# all of them\n{CALL}  # here\n```",
        f"```python\nimport json\nresult = {CALL};\n```",
    ],
)
def test_a_block_that_explains_is_not_the_call(response: str) -> None:
    assert read(response) == ("exec_shell", [COMMAND], {})


@pytest.mark.parametrize(
    "response",
    [
        "```bash\nkubectl get pods -A\n```",
        '```bash\nkubectl exec x -- mongo --eval "db.getUsers()"\n```',
        '{"name": "nginx", "args": ["-g"]}',
        "$ kubectl get pods -A",
        "Answer: Yes",
    ],
)
def test_a_command_or_a_word_alone_is_answered_with_how_to_call(response: str) -> None:
    assert 'exec_shell("kubectl get pods -A")' in refused(response)


# -- calls as data -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "response",
    [
        AS_DATA,
        f"I look: {AS_DATA}",
        f"I look.\n{AS_DATA}\n",
        f"```json\n{AS_DATA}\n```",
        f"```tool_call\n{AS_DATA}\n```",
        f"<tool_call>\n{AS_DATA}\n</tool_call>",
        f"<tool_call>\n{AS_DATA}",
        f"<|python_tag|>{AS_DATA}",
        f"[TOOL_CALLS] [{AS_DATA}]",
        f'{{"tool_calls": [{{"id": "c1", "type": "function", "function": {AS_DATA}}}]}}',
        '{"name": "exec_shell", "arguments": "{\\"command\\": \\"kubectl get pods -A\\"}"}',
        '{"thought": "I look", "command": {"name": "exec_shell", "args": {"command": "kubectl get pods -A"}}}',
        '{"thought": "I look", "action": {"name": "exec_shell", "args": {"command": "kubectl get pods -A"}}}',
        '<invoke name="exec_shell">\n<parameter name="command">kubectl get pods -A</parameter>\n</invoke>',
        "<tool_call>\n<function=exec_shell>\n<parameter=command>\nkubectl get pods -A\n</parameter>\n</function>",
        '```tool_code\nprint(default_api.exec_shell(command = "kubectl get pods -A"))\n```',
        'Action: exec_shell\nAction Input: {"command": "kubectl get pods -A"}',
    ],
)
def test_the_json_and_the_tags_of_tool_calls(response: str) -> None:
    assert read(response) == ("exec_shell", [], {"command": COMMAND})


@pytest.mark.parametrize(
    "text",
    ['{"name": "submit", "arguments": {}}', "Action: submit\nAction Input: {}", '[{"name": "submit", "args": []}]'],
)  # fmt: skip
def test_what_stands_in_the_text_of_a_command_is_no_call(text: str) -> None:
    command = f"cat > f <<EOF\n{text}\nEOF"
    assert read(f"exec_shell('''{command}''')") == ("exec_shell", [command], {})


def test_a_tool_that_nobody_offers_is_left_to_the_session() -> None:
    assert read('{"name": "get_pods", "args": {"namespace": "default"}}')[0] == "get_pods"
    assert read('{"name": "get_pods", "arguments": ["default"]}')[0] == "get_pods"


# -- strings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "command"),
    [
        ('exec_shell("kubectl get "\n           "pods -A",)', COMMAND),
        ('exec_shell(("kubectl get "\n  "pods -A"))', COMMAND),
        ('exec_shell("kubectl get \\\npods -A")', COMMAND),
        ('exec_shell("a\nb")', "a\nb"),
        ('exec_shell(\n    # all\n    "ls",  # here\n)', "ls"),
        (r'exec_shell(r"grep -E \d+\n f")', r"grep -E \d+\n f"),
        ('exec_shell(f"ls")', "ls"),
        ("exec_shell(f\"kubectl get svc -o jsonpath='{{.items[*].kind}}'\")", "kubectl get svc -o jsonpath='{.items[*].kind}'"),
        ("exec_shell(f\"awk '{print $1}' f\")", "awk '{print $1}' f"),
        ('exec_shell(rf"grep {{2}} \\d")', r"grep {2} \d"),
        ('exec_shell("""kubectl get svc -o jsonpath="{.kind}"""")', 'kubectl get svc -o jsonpath="{.kind}"'),
        ("exec_shell('''echo 'it''''')", "echo 'it''"),
        ('exec_shell("""""")', ""),
        ("exec_shell(“ls”)", "ls"),
        ('exec_shell("echo “hi”")', "echo “hi”"),
        (r"exec_shell(\"ls\")", "ls"),
    ],
)  # fmt: skip
def test_texts_as_models_write_them(call: str, command: str) -> None:
    assert read(call)[1] == [command]
    assert read(f"I see.\n```\n{call}\n```")[1] == [command]


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (
            'exec_shell(f"kubectl get pods -n {namespace}")',
            "the variable namespace of the f-string is not defined",
        ),
        ('command = "ls"\nexec_shell(command)', "command is neither in quotes"),
        ("exec_shell(kubectl get pods -A)", "kubectl is neither in quotes"),
        (f'Action: {CALL}\nObservation: all run\nAction: submit("No")', "two different calls"),
        (f"<tool_call>{AS_DATA}</tool_call>\n<tool_call>submit()</tool_call>", "two different calls"),
        (f'[{AS_DATA}, {{"name": "submit", "arguments": {{}}}}]', "two different calls"),
        (f'Action 1: {CALL}\nAction 2: submit("Yes")', "Send one call"),
    ],
)
def test_what_could_mean_two_things_is_refused_with_the_reason(response: str, reason: str) -> None:
    assert reason in refused(response)


# -- submissions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "args", "kwargs"),
    [
        ("All is repaired, so I now call submit().", [], {}),
        ("All good. **submit()**", [], {}),
        ('Final Answer: submit("Yes")', ["Yes"], {}),
        ('<answer>submit("Yes")</answer>', ["Yes"], {}),
        ('{"action": "submit", "action_input": "Yes"}', ["Yes"], {}),
        ('{"action": "submit", "args": {"faulty_components": ["a"]}}', [], {"faulty_components": ["a"]}),
        ('submit(has_anomaly = "Yes")', [], {"has_anomaly": "Yes"}),
        ("submit([“user-service”])", [["user-service"]], {}),
        ('submit({"a", "b"})', [["a", "b"]], {}),
        (
            '```\nsubmit({\n  "system_level": "Application",  # its own\n  "fault_type": "Misconfiguration",\n})\n```',
            [{"system_level": "Application", "fault_type": "Misconfiguration"}],
            {},
        ),
    ],
)
def test_submissions(response: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    assert read(response) == ("submit", args, kwargs)

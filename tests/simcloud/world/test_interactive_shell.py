"""A person's shell: its state persists, programs read what is typed, and a terminal reaches into pods and nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.kubernetes.cluster import Cluster
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.typed_lines import CONTROL_D
from simcloud.world.world import World


@pytest.fixture(scope="module")
def lab() -> Iterator[tuple[World, Cluster]]:
    world = World(3)
    cluster = add_cluster(world, 3)
    cluster.start()
    world.run_for(40.0)
    yield world, cluster


_count = iter(range(100))


class Person:
    """Types lines at a terminal."""

    def __init__(self, lab: tuple[World, Cluster], *, isatty: bool = False) -> None:
        self.terminal = Terminal(*lab, name=f"bastion-p{next(_count)}")
        self.shell = self.terminal.open_shell(isatty=isatty)

    def type(self, *lines: str, timeout_s: float = 60.0) -> str:
        """Type lines and return all output."""
        return "".join(self.terminal.run(line, timeout_s).stdout.decode() for line in lines)


def test_state_persists_from_line_to_line(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    assert person.shell.prompt == f"root@{person.terminal.machine.name}:~# "
    seen = person.type(
        "mkdir -p incident && cd incident",
        "export NS=kube-system; alias k=kubectl",
        'f() { echo "$1 in $NS"; }',
        "f dns; k get deploy coredns -n $NS -o name; pwd; false",
        "echo $?; cd - > /dev/null; pwd",
    )
    assert seen == "dns in kube-system\ndeployment.apps/coredns\n/root/incident\n1\n/root\n"


def test_the_session_is_a_login_at_a_terminal(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    seen = person.type(
        "ps -o stat=,tty=,args=", "who | cut -c1-14", "uptime | grep -c '1 user'", "ss -tn | grep -c :22"
    )
    assert seen == ("Ss   pts/0    -bash\nR+   pts/0    ps -o stat=,tty=,args=\nroot     pts/0\n1\n1\n")


def test_errors_are_those_of_an_interactive_bash(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    seen = person.type(
        "for i in 1; echo $i; done", "kubetcl", "x=${1:?no name}; echo never", "history | tail -2"
    )
    assert seen == (
        "-bash: syntax error near unexpected token `echo'\n-bash: kubetcl: command not found\n-bash: 1: no name\n"
        "   10  x=${1:?no name}; echo never\n   11  history | tail -2\n"
    )


def test_jobs_are_reported(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    seen = person.type("sleep 1 &", "sleep 2", "sleep 50 & kill %1", "jobs")
    first, done, second, ended = seen.splitlines()
    assert first.startswith("[1] ") and second.startswith("[1] ")
    assert done == "[1]+  Done                    sleep 1"
    assert ended == "[1]+  Terminated              sleep 50"
    reported = person.type("false & sleep 1; kill %1")
    assert reported.splitlines()[1:] == [
        "[1]+  Exit 1                  false",
        "-bash: kill: %1: no such job",
    ]


def test_programs_read_what_is_typed(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    assert person.type("cat > note <<END") == ""
    assert person.shell.prompt == "> "
    assert person.type("two words", "END", "sort - note", "b") == ""
    assert (
        person.type("a", CONTROL_D, "read -r first second", "x y z", "echo $second")
        == "a\nb\ntwo words\ny z\n"
    )


def test_control_c_ends_a_line_and_not_the_shell(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    seen = person.type("kept=1; sleep 500 & while :; do sleep 1; done", "echo $? $kept; jobs -r", timeout_s=5)
    assert seen.endswith("^C\n130 1\n[1]+  Running                 sleep 500 &\n")


def test_a_terminal_reaches_nodes_and_pods(lab: tuple[World, Cluster]) -> None:
    person = Person(lab, isatty=True)
    assert (
        person.type("ssh kind-worker", "cd /var/log; tty")
        == "root@kind-worker:~# /dev/pts/0\nroot@kind-worker:/var/log# "
    )
    assert (
        person.type("exit", "tty", "true | tty")
        == "exit\nConnection to kind-worker closed.\n/dev/pts/0\nnot a tty\n"
    )
    person.type(
        "kubectl run box --image=busybox:1.36 -- sleep 9999", "kubectl wait --for=condition=Ready pod/box"
    )
    assert person.type("kubectl exec -it box -- sh") == "# "
    assert (
        person.type("x=5; nosuch", "echo $x; exit 7")
        == "sh: nosuch: not found\n# 5\ncommand terminated with exit code 7\n"
    )
    assert person.type("kubectl exec -i box -- cat", "typed", CONTROL_D) == "typed\n"
    assert "exec" not in Person(lab).type("kubectl exec -it box -- true")


def test_pages_are_drawn_on_terminals_only(lab: tuple[World, Cluster]) -> None:
    drawn = Person(lab, isatty=True)
    assert "\x1b[H\x1b[2JEvery 1.0s: echo hi" in drawn.type("timeout 2 watch -n1 echo hi")
    assert drawn.type("seq 99 | less", "q").startswith("\x1b[?1049h\x1b[H\x1b[J1\n2\n")
    assert "\x1b" not in Person(lab).type("seq 99 | less")


def test_kubectl_edit_runs_an_editor(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    person.type("kubectl create cm edited --from-literal=a=old")
    assert (
        person.type("KUBE_EDITOR='sed -i s/old/new/' kubectl edit cm edited") == "configmap/edited edited\n"
    )
    assert person.type("kubectl get cm edited -o jsonpath='{.data.a}{\"\\n\"}'") == "new\n"
    assert person.type("EDITOR=true kubectl edit cm edited") == "Edit cancelled, no changes made.\n"
    assert 'error: there was a problem with the editor "vi"\n' in person.type(
        "kubectl edit cm edited", CONTROL_D
    )
    refused = person.type("""KUBE_EDITOR="sed -i 's/kind: .*/kind: {/'" kubectl edit cm edited""")
    assert refused.endswith("error: Edit cancelled, no valid changes were saved.\n")


def test_vi_edits_at_a_terminal(lab: tuple[World, Cluster]) -> None:
    person = Person(lab, isatty=True)
    drawn = person.type(
        "kubectl create cm seen --from-literal=a=old", "kubectl edit cm seen", "/old\ncwnew\x1bZZ"
    )
    assert "\x1b[?1049h\x1b[H\x1b[J# Please edit" in drawn and drawn.endswith(
        "\x1b[?1049lconfigmap/seen edited\n"
    )
    assert person.type("kubectl get cm seen -o jsonpath='{.data.a}{\"\\n\"}'") == "new\n"
    keys = (
        "ione two\nthree\x1b",  # one two / three
        "ggdwyyP",  # two / two / three
        "A!\x1bOtop\x1bu",  # two / two! / three; Enter has moved the cursor down before
        "GxrT:%s/e/E/g",  # two / two! / TrEE
        ":wq",
    )
    person.type("vi note", *keys)
    assert person.type("cat note") == "two\ntwo!\nTrEE\n"
    person.type("vi note", "dd:q", ":q!")
    assert person.type("wc -l < note") == "3\n"


def test_nano_edits_at_a_terminal(lab: tuple[World, Cluster]) -> None:
    person = Person(lab, isatty=True)
    search, erase, write, leave, cut, paste = "\x17", "\x7f", "\x0f", "\x18", "\x0b", "\x15"
    drawn = person.type(
        "kubectl create cm nano --from-literal=a=old",
        "EDITOR=nano kubectl edit cm nano",
        f"{search}old",
        f"\x1b[3~\x1b[3~\x1b[3~new{leave}y",
    )
    assert "\x1b[7m  GNU nano 7.2" in drawn and drawn.endswith("\x1b[?1049lconfigmap/nano edited\n")
    assert person.type("kubectl get cm nano -o jsonpath='{.data.a}{\"\\n\"}'") == "new\n"
    seen = person.type("nano note", "first", "second", f"thirx{erase}d{write}", leave)
    assert "[ New File ]" in seen and "[ Wrote 3 lines ]" in seen
    assert person.type("cat note") == "first\nsecond\nthird\n"
    person.type("nano note", f"{search}second", f"{cut}{cut}\x1b[A{paste}{write}", leave)
    assert person.type("cat note") == "second\nthird\nfirst\n"
    assert '[ "nowhere" not found ]' in person.type("nano note", f"{search}nowhere", leave)
    person.type("nano note", f"gone{leave}n")
    assert person.type("head -1 note") == "second\n"
    assert Person(lab).type("echo | nano note") == "Standard input is not a terminal\n"


def test_process_substitution_reaches_kubectl(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    made = "kubectl create cm piped --from-file=k=<(echo text) --dry-run=client -o yaml"
    assert person.type(f"kubectl apply -f <({made})") == "configmap/piped created\n"
    assert "-    text\n+    other\n" in person.type(f"kubectl diff -f <({made} | sed s/text/other/)")


def test_kubectl_proxy_serves_the_api(lab: tuple[World, Cluster]) -> None:
    person = Person(lab)
    person.type("kubectl proxy > proxy.log &", "sleep 1")
    assert person.type("cat proxy.log; curl -s localhost:8001/api/v1/namespaces/default | jq -r .kind") == (
        "Starting to serve on 127.0.0.1:8001\nNamespace\n"
    )
    assert person.type("curl -s -H 'Host: elsewhere' 127.0.0.1:8001/version; echo") == "Forbidden\n"

"""Logs, metrics and traces as an agent gets them, by the door, of a prepared world."""

from __future__ import annotations

import pytest

from aiopslab.cloud.environment import Environment
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.actions.sessions import HOTEL, SOCIAL, say


def test_logs_of_a_service_a_workload_and_a_pod_are_the_same(hotels: Copy[Environment]) -> None:
    pods = f"kubectl get pods -n {HOTEL} -o name | grep /geo-"
    by_name, by_kind, name = say(
        hotels, ("get_logs", HOTEL, "geo"), ("get_logs", HOTEL, "deployment/geo"), ("exec_shell", pods)
    )
    (by_pod,) = say(hotels, ("get_logs", HOTEL, name))
    assert "container hotel-reserv-geo: running]" in by_name
    assert "Successfully registered in consul" in by_name
    assert by_kind == by_name == by_pod


def test_logs_of_any_namespace(hotels: Copy[Environment]) -> None:
    (seen,) = say(hotels, ("get_logs", "kube-system", "kube-proxy"))
    assert seen.count("container kube-proxy: running]") == 4


def test_logs_of_jobs_stateful_sets_and_bare_pods(hotels: Copy[Environment]) -> None:
    run = "--image=busybox --restart=Never -- sh -c 'echo from $HOSTNAME'"
    _, _, _, job, cron, pod, wrong = say(
        hotels,
        ("exec_shell", "kubectl create job once --image=busybox -- echo hello from the job"),
        (
            "exec_shell",
            "kubectl create cronjob often --image=busybox --schedule='* * * * *' -- echo hello again",
        ),
        ("exec_shell", f"kubectl run alone {run}; sleep 70", 100),
        ("get_logs", "default", "job/once"),
        ("get_logs", "default", "often"),
        ("get_logs", "default", "alone"),
        ("get_logs", "default", "sts/once"),
    )
    assert "hello from the job" in job and "terminated, Completed]" in job
    assert "hello again" in cron and "[pod often-" in cron
    assert "from alone" in pod
    assert "There is no service, workload or pod 'sts/once'" in wrong


def test_a_long_log_ends_with_the_newest_and_says_how_to_see_more(hotels: Copy[Environment]) -> None:
    words = "for a in k l m n o p q r; do for b in k l m n o p q r; do for c in k l m n; do echo word $a$b$c; done; done; done"
    run = f"kubectl run chatty --image=busybox --restart=Never -- sh -c '{words}'; sleep 10"
    _, seen = say(hotels, ("exec_shell", run, 60), ("get_logs", "default", "chatty"))
    assert len(seen.encode()) < 20_000
    assert "lines. Older lines: exec_shell" in seen
    assert seen.splitlines()[-1].endswith("word rrn")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("get_logs", "hotel", "geo"), "There is no namespace 'hotel'. Did you mean 'test-hotel-reservation'?"),
        (("get_logs", HOTEL, "goe"), "There is no service, workload or pod 'goe'. Did you mean 'geo'?"),
        (("get_logs", HOTEL, "zzzzz"), "Available: consul, frontend, geo"),
        (("get_metrics", "nope"), "There is no namespace 'nope'."),
        (("get_traces", "default"), "No service of 'default' sends traces"),
        (("read_metrics", "/root/nothing.csv"), "cannot be read: No such file or directory. get_metrics(namespace)"),
        (("search_logs", HOTEL, {"service": "goe"}), "Did you mean 'geo'?"),
        (("get_metrics", HOTEL, 0), "INVALID: duration must be above 0 and at most 1440 minutes, not 0."),
        (("get_traces", HOTEL, -5), "INVALID: duration must be above 0"),
        (("search_logs", HOTEL, {"pattern": "("}), "INVALID: pattern is not a valid regular expression: error parsing regexp"),
        (("query_metrics", "up{"), 'parse error: unexpected end of input inside braces'),
        (("query_metrics", "nothing_at_all"), "No series matches now."),
        (("query_metrics", "up", 60, 1), "INVALID: 60 minutes with a step of 1 seconds have more than 60 values."),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_a_way_out(
    hotels: Copy[Environment], call: tuple[object, ...], words: str
) -> None:
    (seen,) = say(hotels, call)
    assert words in seen
    assert len(seen) < 1000


def test_the_previous_run_is_shown_where_there_was_a_restart(ill: Copy[Environment]) -> None:
    (seen,) = say(ill, ("get_logs", HOTEL, "rate"))
    assert "container hotel-reserv-rate, previous run]" in seen
    assert "restarts]" in seen
    assert "AuthenticationFailed" in seen or "Authentication failed" in seen


def test_a_service_without_pods_shows_its_last_words(ill: Copy[Environment]) -> None:
    (seen,) = say(ill, ("get_logs", HOTEL, "geo"))
    assert seen.startswith("'geo' has no pods now.")
    assert "deleted, these are its last lines]" in seen
    assert "Successfully registered in consul" in seen


def test_repeated_lines_are_folded_with_count_and_times(ill: Copy[Environment]) -> None:
    (seen,) = say(ill, ("get_logs", HOTEL, "mongodb-rate"))
    refused = [line for line in seen.splitlines() if "Authentication failed" in line]
    assert len(refused) == 1
    assert " x" in refused[0].partition("{")[0]


def test_search_finds_lines_of_the_whole_namespace(ill: Copy[Environment]) -> None:
    everywhere, narrowed, none = say(
        ill,
        ("search_logs", HOTEL, "Authentication failed"),
        (
            "search_logs",
            HOTEL,
            {"pattern": "(?i)AUTHENTICATION FAILED", "service": "mongodb-rate", "minutes": 1},
        ),
        ("search_logs", HOTEL, "Authentication failed", {"service": "user"}),
    )
    assert "[pod mongodb-rate-" in everywhere and "[pod rate-" in everywhere
    assert "[pod mongodb-rate-" in narrowed and "[pod rate-" not in narrowed
    assert none.startswith("No matching line in the last 10 minutes")


def test_metrics_are_files_on_the_agents_host(hotels: Copy[Environment]) -> None:
    name = "container_memory_working_set_bytes.csv"
    exported, read, first, found = say(
        hotels,
        ("get_metrics", HOTEL),
        ("read_metrics", f"{{}}/{name}"),
        ("exec_shell", f"head -n 1 /root/metrics/*/{name}"),
        ("exec_shell", f"grep -c geo- /root/metrics/*/{name}"),
    )
    assert f"{name} (" in exported
    assert "grpc_server_requests_total.csv" in exported and "service.requests.rate1m.csv" in exported
    assert "kube_pod_container_status_restarts_total.csv" in exported and "node_load1.csv" in exported
    assert "_bucket" not in exported
    assert first == "timestamp,container,node,pod,value"
    assert int(found) > 5
    assert "hotel-reserv-geo" in read
    assert len(exported.encode()) < 6000


def test_a_short_file_is_shown_as_it_is_and_a_folder_by_its_files(hotels: Copy[Environment]) -> None:
    _, read, folder, near = say(
        hotels,
        ("get_metrics", HOTEL, 0.5),
        ("read_metrics", "{}/service.requests.rate1m.csv"),
        ("read_metrics", "/root/metrics"),
        ("read_metrics", "{}/node_load.csv"),
    )
    assert read.startswith("timestamp,service,value\n")
    assert "test-hotel-reservation-2026" in folder and "This is a folder" in folder
    assert "node_load1.csv" in near


def test_whatever_the_agent_did_to_its_host_is_told(hotels: Copy[Environment]) -> None:
    _, blocked, device, strange = say(
        hotels,
        ("exec_shell", "touch /root/metrics /root/empty; seq 100000 > /root/numbers"),
        ("get_metrics", HOTEL),
        ("read_metrics", "/dev/zero"),
        ("read_traces", "/root/numbers"),
    )
    assert "cannot be written on your host: Not a directory" in blocked
    assert len(device) < 2000
    assert strange.startswith("1\n2\n3\n") and "[Showing the first 200 of 100000 lines. " in strange


def test_traces_have_the_papers_columns(hotels: Copy[Environment]) -> None:
    exported, read, first, roots = say(
        hotels,
        ("get_traces", HOTEL, 1),
        ("read_traces", "{}"),
        ("exec_shell", "head -n 1 /root/traces/*.csv"),
        ("exec_shell", "grep -c ,ROOT, /root/traces/*.csv"),
    )
    assert "spans) are in /root/traces/test-hotel-reservation-" in exported
    assert first == (
        "trace_id,span_id,parent_span,service_name,operation_name,start_time,duration,has_error,response"
    )
    assert int(roots) > 300
    assert "Failed spans: 0." in read
    assert "/geo.Geo/Nearby" in read and "p99_ms" in read


def test_failed_spans_are_shown(ill: Copy[Environment]) -> None:
    _, read = say(ill, ("get_traces", HOTEL, 1), ("read_traces", "{}"))
    assert "; the newest 15:" in read
    assert ",search," in read


def test_queries_give_small_tables(hotels: Copy[Environment]) -> None:
    now, series, number = say(
        hotels,
        (
            "query_metrics",
            f'sum by (service) (rate(grpc_server_requests_total{{namespace="{HOTEL}"}}[1m])) > 1',
        ),
        ("query_metrics", "service:requests:rate1m", {"minutes": "1", "step": 30}),
        ("query_metrics", "1 + 1"),
    )
    assert [line.split()[0] for line in now.splitlines()[1:]] == [
        "service", "geo", "profile", "rate", "recommendation", "reservation", "search", "user",
    ]  # fmt: skip
    assert "every 30 s" in series
    assert series.splitlines()[2].split()[0] == "service" and len(series.splitlines()[2].split()) == 4
    assert number.endswith(": 2")


@pytest.mark.slow
def test_the_other_application_too(network: Copy[Environment]) -> None:
    logs, metrics, _, read, tree, lost = say(
        network,
        ("get_logs", SOCIAL, "user-service"),
        ("get_metrics", SOCIAL),
        ("get_traces", SOCIAL),
        ("read_traces", "{}"),
        ("get_topology", SOCIAL),
        ("get_logs", SOCIAL, "userservice"),
    )
    assert "Starting the user-service server" in logs
    assert "thrift_server_requests_total.csv" in metrics
    assert "nginx-web-server" in read
    assert "└─ " in tree and "home-timeline-service" in tree
    assert "Did you mean 'user-service'" in lost

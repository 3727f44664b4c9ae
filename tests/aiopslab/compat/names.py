"""Every module and name of the public AIOpsLab release that its code, tests and guides import, with a use of each.

``NAMES`` is the source of the table in docs/coming-from-aiopslab.md (``python -m scripts.make_aiopslab_page``). The functions are the tests: each
uses the names of its module on the current cloud, which holds the hotel application.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

import pytest

from aiopslab.utils import NotAvailable

NS: Final = "test-hotel-reservation"
Use = Callable[[Path], None]


@dataclass(frozen=True)
class Name:
    """A module of the public release and its names, how they differ here, and a function that uses them."""

    module: str
    names: tuple[str, ...]
    use: Use
    differs: str = ""


NAMES: Final[list[Name]] = []


def uses(module: str, *names: str, differs: str = "") -> Callable[[Use], Use]:
    """Register a function as the use of a module's names."""

    def register(use: Use) -> Use:
        NAMES.append(Name(module, names, use, differs))
        return use

    return register


@uses("aiopslab.config", "Config", differs="a file that does not exist has no settings")
def use_config(folder: Path) -> None:
    from aiopslab.config import Config

    (folder / "config.yml").write_text("data_dir: data\n")
    assert Config(folder / "config.yml").get("data_dir") == "data"
    assert Config(folder / "none.yml").get("k8s_host", "none") == "none"


@uses(
    "aiopslab.paths",
    "HOME_DIR", "BASE_DIR", "BASE_PARENT_DIR", "TARGET_MICROSERVICES", "DATA_DIR", "RESULTS_DIR", "PLOTS_DIR", "CACHE_DIR",
    "LLM_CACHE_FILE", "FAULT_SCRIPTS", "SOCIAL_NETWORK_METADATA", "HOTEL_RES_METADATA", "PROMETHEUS_METADATA",
    "TRAIN_TICKET_METADATA", "ASTRONOMY_SHOP_METADATA", "TIDB_METADATA", "FLIGHT_TICKET_METADATA", "FLOWER_METADATA",
    differs="records are in `results`; the files of applications, metadata and scripts do not exist",
)  # fmt: skip
def use_paths(folder: Path) -> None:
    from aiopslab import paths

    for name in find("aiopslab.paths").names:
        assert isinstance(getattr(paths, name), Path)
    assert Path("results") == paths.RESULTS_DIR


@uses("aiopslab.utils.actions", "action", "read", "write", "get_actions")
def use_actions(folder: Path) -> None:
    from aiopslab.utils.actions import action, get_actions, read, write

    assert action(read(write(lambda: None))).action_type == "read"  # type: ignore[attr-defined]
    assert {"get_logs", "exec_shell", "submit"} <= set(get_actions("detection"))
    assert "exec_shell" not in get_actions("mitigation", "read")


@uses("aiopslab.utils.cache", "LLMCache")
def use_cache(folder: Path) -> None:
    from aiopslab.utils.cache import LLMCache

    with patch("aiopslab.utils.cache.LLM_CACHE_FILE", folder / "cache.json"):
        cache = LLMCache()
        cache.add_to_cache([{"role": "user"}], ["hello"])
        cache.save_cache()
        assert LLMCache().get_from_cache([{"role": "user"}]) == ["hello"]


@uses("aiopslab.utils.critical_section", "CriticalSection")
def use_critical_section(folder: Path) -> None:
    from aiopslab.utils.critical_section import CriticalSection

    with pytest.raises(KeyboardInterrupt), CriticalSection() as section:
        section.signal_handler(2, None)


@uses(
    "aiopslab.utils.status",
    "SubmissionStatus", "InvalidActionError", "ResponseParsingError", "SessionPrint",
    differs="messages say what to do instead",
)  # fmt: skip
def use_status(folder: Path) -> None:
    from aiopslab.utils.status import InvalidActionError, ResponseParsingError, SessionPrint, SubmissionStatus

    assert SubmissionStatus.VALID_SUBMISSION is not SubmissionStatus.INVALID_SUBMISSION
    assert str(InvalidActionError("x")) == "x"
    assert ResponseParsingError("x").message == "x"
    SessionPrint().result({"success": True})


@uses(
    "aiopslab.session",
    "Session",
    "SessionItem",
    differs="`history` is a copy: `add` adds to it; ids are the same in every run",
)
def use_session(folder: Path) -> None:
    from aiopslab.session import Session, SessionItem

    session = Session(results_dir=folder)
    session.set_problem(None, pid="p-1")
    session.set_agent("somebody")
    session.start()
    session.add([SessionItem(role="assistant", content="hi"), {"role": "env", "content": "ho"}])
    session.set_solution("Yes")
    session.set_results({"success": True})
    session.end()
    assert session.get_duration() >= 0
    read = Session(results_dir=folder)
    read.from_json(session.to_json().name)
    assert [item.content for item in read.history] == ["hi", "ho"]
    assert read.to_dict() == session.to_dict()
    session.clear()
    assert session.history == []


@uses(
    "aiopslab.service.kubectl",
    "KubeCtl",
    differs="acts on the current cloud by the built-in kubectl; files of your host are read in `apply_configs` and while a problem is staged",
)
def use_kubectl(folder: Path) -> None:
    from aiopslab.service.kubectl import KubeCtl

    kubectl = KubeCtl()
    pod = kubectl.get_pod_name(NS, "io.kompose.service=geo")
    assert pod in [found.metadata.name for found in kubectl.list_pods(NS).items]
    assert kubectl.get_pod_logs(pod, NS)
    assert NS in [found.metadata.name for found in kubectl.list_namespaces().items]
    service = next(found for found in kubectl.list_services(NS).items if found.metadata.name == "frontend")
    assert service.spec.cluster_ip == kubectl.get_cluster_ip("frontend", NS)
    assert kubectl.get_service_json("frontend", NS)["spec"]["ports"]
    assert kubectl.get_container_runtime().startswith("containerd://")
    assert kubectl.get_node_architectures() == {"amd64"}
    deployment = kubectl.get_deployment("search", NS)
    deployment.spec.template.spec.containers[0].image_pull_policy = "IfNotPresent"
    assert kubectl.update_deployment("search", NS, deployment).spec.replicas == 1
    assert (
        kubectl.patch_service("search", NS, {"metadata": {"labels": {"a": "b"}}}).metadata.labels["a"] == "b"
    )
    assert kubectl.create_configmap("notes", NS, {"a": "1"}).data == {"a": "1"}
    (folder / "map.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {b: c}\n"
    )
    kubectl.apply_configs(NS, folder)
    assert kubectl.core_v1_api.read_namespaced_config_map("more", NS).data == {"b": "c"}
    kubectl.delete_configs(NS, folder)
    with pytest.raises(Exception, match="NotFound"):
        kubectl.core_v1_api.read_namespaced_config_map("more", NS)
    assert kubectl.exec_command("cat", input_data="typed") == "typed\n"
    assert "NotFound" in kubectl.exec_command("kubectl get pod nix")
    kubectl.create_namespace_if_not_exist("other")
    kubectl.delete_namespace("other")
    kubectl.wait_for_ready(NS)


@uses(
    "aiopslab.service.helm",
    "Helm",
    differs="charts are folders of your host; there are no remote repositories",
)
def use_helm(folder: Path) -> None:
    from aiopslab.service.helm import Helm

    chart = folder / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: notes\nversion: 1.0.0\n")
    (chart / "values.yaml").write_text("text: one\n")
    template = (
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {text: "{{ .Values.text }}"}\n'
    )
    (chart / "templates" / "map.yaml").write_text(template)
    release = {"release_name": "notes", "chart_path": chart, "namespace": "notes"}
    Helm.install(**release)
    Helm.upgrade(**release, set_values={"text": "two"})
    assert Helm.exists_release("notes", "notes")
    assert "STATUS: deployed" in Helm.status("notes", "notes")
    Helm.uninstall(**release)
    assert not Helm.exists_release("notes", "notes")
    assert Helm.assert_if_deployed(NS)
    with pytest.raises(NotAvailable, match="no internet"):
        Helm.add_repo("chaos-mesh", "https://charts.chaos-mesh.org")


@uses("aiopslab.service.shell", "Shell", differs="runs on the agent's host of the current cloud")
def use_shell(folder: Path) -> None:
    from aiopslab.service.shell import Shell

    assert Shell.exec("pwd; hostname", cwd="/tmp").split() == ["/tmp", "bastion"]
    assert Shell.local_exec("cat", input_data="a") == "a\n"
    with pytest.raises(RuntimeError, match="1 simulated seconds"):
        Shell.exec("sleep 3", timeout=1)
    assert Shell.ssh_exec("kind-worker", "", "", "hostname") == "kind-worker\n"
    with pytest.raises(NotAvailable, match="kubectl exec"):
        Shell.docker_exec("kind-control-plane", "ls")


@uses("aiopslab.service.dock", "Docker", differs="every use says that there is no Docker")
def use_docker(folder: Path) -> None:
    from aiopslab.service.dock import Docker

    with pytest.raises(NotAvailable, match="There is no Docker here"):
        Docker().list_containers()


@uses(
    "aiopslab.service.telemetry.prometheus",
    "Prometheus",
    differs="it always runs: `deploy` and `teardown` do nothing",
)
def use_prometheus(folder: Path) -> None:
    from aiopslab.service.telemetry.prometheus import Prometheus

    prometheus = Prometheus()
    prometheus.deploy()
    prometheus.teardown()
    assert "Namespace: monitoring" in prometheus.get_service_summary()


@uses("aiopslab.service.telemetry.loki", "Loki", differs="reads the current cloud; the URL is not used")
def use_loki(folder: Path) -> None:
    from aiopslab.service.kubectl import KubeCtl
    from aiopslab.service.telemetry.loki import Loki

    KubeCtl().exec_command("sleep 60")
    loki = Loki("http://localhost:3100")
    found = loki.query_range(f'{{namespace="{NS}"}}', limit=5)
    assert sum(len(stream["values"]) for stream in found["data"]["result"]) == 5
    (counted,) = loki.query(f'sum(count_over_time({{namespace="{NS}"}}[10m]))')["data"]["result"]
    assert float(counted["value"][1]) > 5


@uses("aiopslab.service.apps.hotelres", "HotelReservation", differs="`deploy` opens a cloud if there is none")
def use_hotel(folder: Path) -> None:
    from aiopslab.service.apps.hotelres import HotelReservation

    app = HotelReservation()
    app.create_namespace()
    app.deploy()
    assert (app.namespace, app.frontend_service, app.frontend_port) == (NS, "frontend", 5000)
    assert "Service Name: hotel-reservation" in app.get_app_summary()


@uses("aiopslab.service.apps.socialnet", "SocialNetwork")
def use_social_network(folder: Path) -> None:
    from aiopslab.service.apps.socialnet import SocialNetwork

    app = SocialNetwork()
    assert app.helm_configs == {"release_name": "social-network", "namespace": "test-social-network"}
    app.deploy()
    assert len(app.kubectl.list_pods(app.namespace).items) > 20
    app.cleanup()
    assert app.kubectl.run(f"kubectl get namespace {app.namespace}").status != 0


@uses(
    "aiopslab.service.apps.base",
    "Application",
    differs="paths in the JSON file are relative to it; images are those of every cluster and of datastores",
)
def use_application(folder: Path) -> None:
    from aiopslab.service.apps.base import Application

    (folder / "manifests").mkdir()
    (folder / "app.json").write_text(
        '{"Name": "Notes", "Namespace": "notes-app", "K8S Deploy Path": "manifests"}'
    )
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: nginx}]}\n"
    )
    (folder / "manifests" / "pod.yaml").write_text(pod)
    app = Application(folder / "app.json")
    app.deploy()
    assert [found.metadata.name for found in app.kubectl.list_pods("notes-app").items] == ["web"]
    app.delete()


@uses("aiopslab.service.apps.astronomy_shop", "AstronomyShop", differs="not available yet")
@uses("aiopslab.service.apps.flower", "Flower", differs="not available yet")
@uses("aiopslab.service.apps.tidb_cluster_operator", "TiDBCluster", differs="not available yet")
def use_missing_applications(folder: Path) -> None:
    from aiopslab.service.apps.astronomy_shop import AstronomyShop
    from aiopslab.service.apps.flower import Flower
    from aiopslab.service.apps.tidb_cluster_operator import TiDBCluster

    for app in (AstronomyShop, Flower, TiDBCluster):
        with pytest.raises(NotAvailable, match="is not available yet"):
            app()


@uses("aiopslab.generators.fault.base", "FaultInjector", differs="an unknown fault raises `NoSuchFault`")
def use_injector(folder: Path) -> None:
    from aiopslab.generators.fault.base import FaultInjector

    done: list[Any] = []

    class Mine(FaultInjector):
        inject_it = staticmethod(lambda *given: done.append(given))
        recover_it = staticmethod(lambda *given: done.append(given))

    injector = Mine(NS)
    injector._inject(fault_type="it", microservices=["geo"], duration="30s")
    injector._inject("it", ["geo"])
    injector._recover("it")
    assert (injector.testbed, done) == (NS, [(["geo"], "30s"), (["geo"],), ()])


@uses("aiopslab.generators.fault.inject_virtual", "VirtualizationFaultInjector")
@uses("aiopslab.generators.fault.inject_app", "ApplicationFaultInjector")
@uses(
    "aiopslab.generators.fault.inject_symp",
    "SymptomFaultInjector",
    differs="needs no Chaos Mesh; a fault lasts until it is recovered",
)
@uses("aiopslab.generators.fault.inject_noop", "NoopFaultInjector")
@uses("aiopslab.generators.fault.inject_os", "OSFaultInjector")
def use_injectors(folder: Path) -> None:
    from aiopslab.generators.fault.inject_app import ApplicationFaultInjector
    from aiopslab.generators.fault.inject_noop import NoopFaultInjector
    from aiopslab.generators.fault.inject_os import OSFaultInjector
    from aiopslab.generators.fault.inject_symp import SymptomFaultInjector
    from aiopslab.generators.fault.inject_virtual import VirtualizationFaultInjector

    virtual = VirtualizationFaultInjector(namespace=NS)
    virtual._inject(fault_type="scale_pods_to_zero", microservices=["geo"])
    assert virtual.kubectl.get_deployment("geo", NS).spec.replicas == 0
    virtual._recover(fault_type="scale_pods_to_zero", microservices=["geo"])
    virtual.kubectl.wait_for_ready(NS)
    listed = {*virtual.list_faults(), *ApplicationFaultInjector(NS).list_faults()}
    assert {
        "misconfig_k8s",
        "assign_to_non_existent_node",
        "wrong_bin_usage",
        "redeploy_without_pv",
    } <= listed
    assert {"revoke_auth", "storage_user_unregistered", "misconfig_app", "auth_miss_mongodb"} <= listed
    symptoms = SymptomFaultInjector(NS)
    assert {"pod_failure", "pod_kill", "network_loss", "network_delay", "container_kill", "kernel_fault"} <= {
        *symptoms.list_faults()
    }
    symptoms.inject_network_delay(["user"])
    symptoms.recover_network_delay()
    NoopFaultInjector(NS)._inject(fault_type="no_op", microservices=["x"], duration="200s")
    NoopFaultInjector(NS)._recover(fault_type="no_op")
    OSFaultInjector()._recover(fault_type="disk_woreout")
    with pytest.raises(NotAvailable, match="no Docker"):
        virtual.inject_container_stop(["client"])


@uses(
    "aiopslab.generators.fault.inject_operator", "K8SOperatorFaultInjector", differs="not available yet: TiDB"
)
@uses(
    "aiopslab.generators.fault.inject_otel",
    "OtelFaultInjector",
    differs="not available yet: the astronomy shop",
)
def use_missing_injectors(folder: Path) -> None:
    from aiopslab.generators.fault.inject_operator import K8SOperatorFaultInjector
    from aiopslab.generators.fault.inject_otel import OtelFaultInjector

    with pytest.raises(NotAvailable, match="TiDB"):
        K8SOperatorFaultInjector("tidb-cluster")._inject("overload_replicas")
    with pytest.raises(NotAvailable, match="astronomy shop"):
        OtelFaultInjector(NS).inject_fault("adFailure")


@uses(
    "aiopslab.generators.fault.helpers",
    "get_pids_by_name", "hr_mongod_process_names", "hr_svc_process_names", "sn_svc_process_names",
    differs="finds processes on the cloud's nodes",
)  # fmt: skip
def use_helpers(folder: Path) -> None:
    from aiopslab.generators.fault.helpers import (
        get_pids_by_name,
        hr_mongod_process_names,
        hr_svc_process_names,
        sn_svc_process_names,
    )

    assert len(get_pids_by_name(hr_mongod_process_names[0])) == 6
    assert get_pids_by_name(hr_svc_process_names[0])
    assert get_pids_by_name(sn_svc_process_names[0]) == []


@uses(
    "aiopslab.generators.workload.wrk",
    "Wrk",
    differs="sends the requests of the application's users: a Lua script is not run",
)
def use_wrk(folder: Path) -> None:
    from aiopslab.generators.workload.wrk import Wrk
    from aiopslab.service.kubectl import KubeCtl

    wrk = Wrk(rate=10, dist="exp", connections=2, duration=5, threads=2)
    address = KubeCtl().get_cluster_ip("frontend", NS)
    wrk.start_workload(payload_script=folder / "mixed.lua", url=f"http://{address}:5000")
    KubeCtl().exec_command("sleep 8")
    assert wrk.report is not None
    assert wrk.report.latencies.total > 20


@uses(
    "aiopslab.observer",
    "get_pod_list",
    "get_services_list",
    "monitor_config",
    "root_path",
    differs="only `namespace` is used",
)
@uses("aiopslab.observer.log_api", "LogAPI", differs="reads the current cloud")
@uses("aiopslab.observer.metric_api", "PrometheusAPI", differs="reads the current cloud")
@uses("aiopslab.observer.trace_api", "TraceAPI", differs="reads the current cloud; DataFrames need pandas")
def use_observer(folder: Path) -> None:
    from aiopslab.observer import get_pod_list, get_services_list, monitor_config, root_path
    from aiopslab.observer.log_api import LogAPI
    from aiopslab.observer.metric_api import PrometheusAPI
    from aiopslab.observer.observe import collect_logs, collect_metrics, collect_traces
    from aiopslab.observer.trace_api import TraceAPI
    from aiopslab.service.kubectl import KubeCtl

    v1 = KubeCtl().core_v1_api
    assert len(get_pod_list(v1, NS)) >= len(get_services_list(v1, NS)) > 10
    assert (monitor_config["namespace"], root_path.name) == (NS, "observer")
    KubeCtl().exec_command("sleep 40")
    end = datetime.now()
    start = end - timedelta(minutes=1)
    prometheus = PrometheusAPI(monitor_config["prometheusApi"], NS)
    text = prometheus.export_all_metrics(start_time=start, end_time=end, save_path=str(folder), step=10)
    assert "kpi_container_cpu_usage_seconds_total.csv" in text
    (exported,) = folder.glob("metric_*/container/kpi_container_memory_rss.csv")
    text = exported.read_text()
    assert text.startswith("timestamp,cmdb_id,kpi_name,value\n")
    assert ".consul-" in text
    pod = prometheus.pod_list[0]
    assert prometheus.query_range("container_memory_rss", pod, start, end)[0]["value"] > 0  # type: ignore[index]
    tracer = TraceAPI(NS)
    traces = tracer.process_traces(tracer.extract_traces(start, end))
    assert list(traces.columns)[:4] == ["trace_id", "span_id", "parent_span", "service_name"]
    assert len(traces) > 10
    assert "traces_" in tracer.save_traces(traces, folder)
    assert "frontend" in tracer.get_services()
    extracted = LogAPI("", "", "").log_extract(int(start.timestamp()), int(end.timestamp()), folder / "logs")
    assert extracted is not None
    assert extracted.read_text().startswith("log_id,timestamp,date,pod_name,")
    for collect in (collect_logs, collect_metrics, collect_traces):
        collect(start, end, folder)
    assert sorted(path.name for path in folder.glob("*_output")) == [
        "log_output",
        "metrics_output",
        "trace_output",
    ]


@uses(
    "aiopslab.orchestrator.actions.base",
    "TaskActions",
    differs="observations are bounded; the exported files are on the agent's host",
)
@uses("aiopslab.orchestrator.actions.detection", "DetectionActions")
@uses("aiopslab.orchestrator.actions.localization", "LocalizationActions")
@uses("aiopslab.orchestrator.actions.analysis", "AnalysisActions")
@uses("aiopslab.orchestrator.actions.mitigation", "MitigationActions")
def use_task_actions(folder: Path) -> None:
    from aiopslab.orchestrator.actions.analysis import AnalysisActions
    from aiopslab.orchestrator.actions.base import TaskActions
    from aiopslab.orchestrator.actions.detection import DetectionActions
    from aiopslab.orchestrator.actions.localization import LocalizationActions
    from aiopslab.orchestrator.actions.mitigation import MitigationActions
    from aiopslab.utils.status import SubmissionStatus

    assert "pod consul" in TaskActions.get_logs(NS, "consul")
    assert "frontend" in TaskActions.exec_shell(f"kubectl get svc -n {NS}")
    exported = TaskActions.get_metrics(NS, 5)
    path = exported.partition('read_metrics("')[2].partition('"')[0]
    assert "samples" in TaskActions.read_metrics(path) or "timestamp" in TaskActions.read_metrics(path)
    path = TaskActions.get_traces(NS).partition('read_traces("')[2].partition('"')[0]
    assert "frontend" in TaskActions.read_traces(path)
    given = (
        DetectionActions.submit("Yes"), LocalizationActions.submit(["geo"]), AnalysisActions.submit({}), MitigationActions.submit(),
    )  # fmt: skip
    assert set(given) == {SubmissionStatus.VALID_SUBMISSION}


@uses("aiopslab.orchestrator.actions", "log_deduplication")
@uses("aiopslab.orchestrator.actions.log_deduplication", "greedy_compress_lines")
def use_log_deduplication(folder: Path) -> None:
    from aiopslab.orchestrator.actions import log_deduplication
    from aiopslab.orchestrator.actions.log_deduplication import greedy_compress_lines

    text = "10:00:01 a\n10:00:02 a\nb\n10:00:03 a\n10:00:04 c\n10:00:05 a\n10:00:06 c"
    with patch.dict("os.environ", {"LOG_TRIM": "2"}):
        assert greedy_compress_lines(text).splitlines() == ["10:00:02 a", "b", "10:00:05 a", "10:00:06 c"]
    with patch.dict("os.environ", {"LOG_TRIM": ""}):
        assert log_deduplication.greedy_compress_lines(text) == text


@uses(
    "aiopslab.orchestrator.evaluators.quantitative",
    "is_exact_match",
    "is_subset",
    "in_tokens",
    "out_tokens",
    differs="tokens are estimates",
)
def use_quantitative(folder: Path) -> None:
    from aiopslab.orchestrator.evaluators.quantitative import in_tokens, is_exact_match, is_subset, out_tokens
    from aiopslab.session import SessionItem

    assert is_exact_match(["geo"], "geo")
    assert is_subset(["geo"], ["geo", "rate"])
    trace = [SessionItem(role="assistant", content="12345678"), SessionItem(role="env", content="1234")]
    assert (in_tokens(trace), out_tokens(trace)) == (1, 2)


@uses("aiopslab.orchestrator.evaluators.prompts", "SCORER_PROMPTS", differs="other wording")
@uses(
    "aiopslab.orchestrator.evaluators.qualitative",
    "LLMJudge",
    differs="needs the extra `llm`; `Orchestrator(judge=…)` knows the truth too",
)
def use_judge(folder: Path) -> None:
    from aiopslab.orchestrator.evaluators.prompts import SCORER_PROMPTS
    from aiopslab.orchestrator.evaluators.qualitative import LLMJudge
    from aiopslab.session import SessionItem

    answer = SimpleNamespace(
        choices=[SimpleNamespace(message=SimpleNamespace(content="Good. Rating: [[7]]"))]
    )
    with (
        patch("aiopslab.utils.cache.LLM_CACHE_FILE", folder / "cache.json"),
        patch("aiopslab.orchestrator.evaluators.qualitative.OpenAI") as client,
    ):
        client.return_value.chat.completions.create.return_value = answer
        judge = LLMJudge([SessionItem(role="assistant", content="hi")])
        assert judge.reasoning_score() == (7, "Good. Rating: [[7]]")
    assert judge.prompt[0]["content"] == SCORER_PROMPTS["system"]
    assert judge.trace == "###assistant:\nhi\n\n"


@uses("aiopslab.orchestrator.parser", "ResponseParser", differs="accepts more forms of a call")
@uses("aiopslab.orchestrator.onboarding_eval_parser", "EvalParser")
def use_parsers(folder: Path) -> None:
    from aiopslab.orchestrator.onboarding_eval_parser import EvalParser
    from aiopslab.orchestrator.parser import ResponseParser

    call = ResponseParser().parse("Action:\n```\nget_logs('a', 'b')\n```")
    assert (call["api_name"], call["args"], call["context"]) == ("get_logs", ["a", "b"], ["Action:"])
    assert EvalParser().parse("Action:```\nkubectl get pods\n```")["args"] == ["kubectl get pods"]
    assert EvalParser().parse("submit")["api_name"] == "submit"
    assert EvalParser().parse("submit(['geo'])")["args"] == [["geo"]]


@uses("aiopslab.orchestrator.tasks", "DetectionTask", "LocalizationTask", "AnalysisTask", "MitigationTask")
@uses("aiopslab.orchestrator.tasks.base", "Task")
@uses("aiopslab.orchestrator.tasks.detection", "DetectionTask")
def use_tasks(folder: Path) -> None:
    from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask
    from aiopslab.orchestrator.tasks.base import Task
    from aiopslab.service.apps.hotelres import HotelReservation
    from aiopslab.utils.status import SubmissionStatus

    for kind in (DetectionTask, LocalizationTask, AnalysisTask, MitigationTask):
        task: Task = kind(HotelReservation())
        assert task.namespace == NS
        assert "submit" in task.get_available_actions()
        assert "frontend" in str(task.perform_action("exec_shell", f"kubectl get svc -n {NS}"))
    assert task.perform_action("submit") is SubmissionStatus.VALID_SUBMISSION
    assert task.sys_status_after_recovery()
    task.common_eval([])
    assert task.results["steps"] == 0


@uses(
    "aiopslab.orchestrator.problems.registry",
    "ProblemRegistry",
    differs="has more problems; a name of a task selects exactly that task",
)
def use_registry(folder: Path) -> None:
    from aiopslab.orchestrator.problems.registry import ProblemRegistry

    registry = ProblemRegistry()
    make = registry.get_problem("container_kill-detection")
    assert make is not None
    assert make().id == "container_kill-detection"
    assert registry.get_problem("no-such-problem") is None
    with pytest.raises(ValueError, match="There is no problem 'no-such-problem'"):
        registry.get_problem_instance("no-such-problem")
    assert registry.get_problem_deployment("container_kill-detection") == "k8s"
    assert registry.get_problem_count("container_kill") == len(registry.get_problem_ids("container_kill")) > 1
    registry.PROBLEM_REGISTRY["mine-detection-1"] = make
    assert registry.get_problem_instance("mine-detection-1").app.namespace == NS


@uses("aiopslab.orchestrator", "Orchestrator", differs="see the table below")
@uses(
    "aiopslab.onboarding_evaluator",
    "Evaluator",
    differs="an orchestrator whose sessions go on after a wrong answer",
)
def use_orchestrator(folder: Path) -> None:
    from aiopslab.onboarding_evaluator import Evaluator
    from aiopslab.orchestrator import Orchestrator

    assert Orchestrator(results_dir=folder).session is None
    assert issubclass(Evaluator, Orchestrator)  # sessions of both: test_sessions.py


PROBLEMS: Final = {
    "k8s_target_port_misconfig": ("K8STargetPortMisconfig", "DLAM"), "auth_miss_mongodb": ("MongoDBAuthMissing", "DLAM"),
    "revoke_auth": ("MongoDBRevokeAuth", "DLAM"), "storage_user_unregistered": ("MongoDBUserUnregistered", "DLAM"),
    "misconfig_app": ("MisconfigAppHotelRes", "DLAM"), "scale_pod": ("ScalePodSocialNet", "DLAM"),
    "assign_non_existent_node": ("AssignNonExistentNodeSocialNet", "DLAM"), "container_kill": ("ContainerKill", "DL"),
    "pod_failure": ("PodFailure", "DL"), "pod_kill": ("PodKill", "DL"), "network_loss": ("NetworkLoss", "DL"),
    "network_delay": ("NetworkDelay", "DL"), "no_op": ("NoOp", "D"), "kernel_fault": ("KernelFault", "DL"),
    "disk_woreout": ("DiskWoreout", "DL"), "redeploy_without_pv": ("RedeployWithoutPV", "DLAM"),
    "wrong_bin_usage": ("WrongBinUsage", "DLAM"),
}  # fmt: skip
MISSING: Final = {
    "ad_service_failure": ("AdServiceFailure", "DL"), "ad_service_high_cpu": ("AdServiceHighCpu", "DL"),
    "ad_service_manual_gc": ("AdServiceManualGc", "DL"), "cart_service_failure": ("CartServiceFailure", "DL"),
    "image_slow_load": ("ImageSlowLoad", "DL"), "kafka_queue_problems": ("KafkaQueueProblems", "DLM"),
    "loadgenerator_flood_homepage": ("LoadGeneratorFloodHomepage", "DL"), "payment_service_failure": ("PaymentServiceFailure", "DL"),
    "payment_service_unreachable": ("PaymentServiceUnreachable", "DL"),
    "product_catalog_failure": ("ProductCatalogServiceFailure", "DL"),
    "recommendation_service_cache_failure": ("RecommendationServiceCacheFailure", "DL"),
    "flower_node_stop": ("FlowerNodeStop", "D"), "flower_model_misconfig": ("FlowerModelMisconfig", "D"),
}  # fmt: skip
OPERATOR: Final = (
    "OverloadReplicas", "NonExistentStorage", "InvalidAffinityToleration", "SecurityContextFault", "WrongUpdateStrategy",
)  # fmt: skip
TASKS: Final = {"D": "Detection", "L": "Localization", "A": "Analysis", "M": "Mitigation"}


def star_import(module: str) -> dict[str, Any]:
    """Return what a star import of a module of problems imports."""
    found: dict[str, Any] = {}
    exec(f"from aiopslab.orchestrator.problems.{module} import *", found)
    return found


def _use_problems(module: str) -> Use:
    prefix, tasks = PROBLEMS[module]

    def use(folder: Path) -> None:
        from aiopslab.orchestrator.problems.registry import ProblemRegistry

        known, found = ProblemRegistry().get_problem_ids(), star_import(module)
        for task in tasks:
            problem = found[f"{prefix}{TASKS[task]}"]()
            assert problem.id in known
            assert problem.namespace.startswith("test-")
            assert problem.task_type == TASKS[task].lower()
            assert module == "no_op" or problem.faulty_service

    return use


def _use_missing(module: str, names: tuple[str, ...]) -> Use:
    def use(folder: Path) -> None:
        for name in names:
            with pytest.raises(NotAvailable, match=f"{name} waits for its application"):
                star_import(module)[name]()

    return use


for _module, (_prefix, _tasks) in PROBLEMS.items():
    _names = tuple(f"{_prefix}{TASKS[task]}" for task in _tasks)
    uses(f"aiopslab.orchestrator.problems.{_module}", *_names)(_use_problems(_module))
_CLASSES = {
    module: tuple(f"{prefix}{TASKS[task]}" for task in tasks) for module, (prefix, tasks) in MISSING.items()
}
_CLASSES["operator_misoperation"] = tuple(
    f"K8SOperator{name}{TASKS[task]}" for name in OPERATOR for task in "DL"
)
for _module, _names in _CLASSES.items():
    _use = _use_missing(_module, _names)
    uses(f"aiopslab.orchestrator.problems.{_module}", *_names, differs="not available yet")(_use)


def find(module: str) -> Name:
    """Return the entry of a module."""
    return next(name for name in NAMES if name.module == module)


def load(name: Name) -> list[Any]:
    """Return what the names of a module are."""
    module = import_module(name.module)
    return [getattr(module, each) for each in name.names]

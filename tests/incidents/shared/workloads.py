"""What is done to Deployments and pods of any application: how many, of which image, by which command, with which probes."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.known import Known
from tests.incidents.lines import (
    DESCRIBE,
    EVENTS,
    ONE_AT_MOST,
    PODS,
    PUT_BACK,
    RESTART,
    RUNNING,
    UNDO,
    container,
    saved,
)
from tests.incidents.needs import everyone_fails, everyone_fine, its_users_fail
from tests.incidents.scene import alert, failing_spans, metric, no_spans, shows

NO_ENDPOINTS = shows("kubectl -n {ns} describe service {t}", r"^Endpoints: +$")


def breakages(known: Known) -> tuple[Breakage, ...]:
    """Those of an application."""
    services, front = known.services, known.front
    return (
        Breakage(
            "zero replicas",
            services,
            ("kubectl -n {ns} scale deployment/{t} --replicas=0",),
            (
                its_users_fail(),
                shows("kubectl -n {ns} get deployment {t}", r"^{t} +0/0"),
                shows("kubectl -n {ns} get endpointslices -l kubernetes.io/service-name={t}", "<unset>"),
                shows(
                    "kubectl -n {ns} get events --field-selector involvedObject.name={t}",
                    r"Scaled down replica set {t}-\w+ from 1 to 0",
                ),
                failing_spans("{web}"),
                no_spans("{t}"),
                metric('kube_deployment_spec_replicas{deployment="{t}"}', most=0),
            ),
            ("kubectl -n {ns} scale deployment/{t} --replicas=1",),
        ),
        Breakage(
            "front door without pods",
            (front,),
            ("kubectl -n {ns} scale deployment/{t} --replicas=0",),
            (
                everyone_fails("refused"),
                shows("kubectl -n {ns} get deployment {t}", r"^{t} +0/0"),
                NO_ENDPOINTS,
                shows("curl -sS http://172.18.0.3:{door}/", "Connection refused|Failed to connect"),
                no_spans("{web}"),
            ),
            ("kubectl -n {ns} scale deployment/{t} --replicas=1",),
        ),
        Breakage(
            "wrong image",
            (*services, front),
            ("kubectl -n {ns} set image deployment/{t} *={image}:v9.9",),
            (
                everyone_fine(),
                shows(PODS, r"1/1 +Running", r"0/1 +(ErrImagePull|ImagePullBackOff)"),
                shows(
                    DESCRIBE,
                    r"Back-off pulling image \"{image}:v9.9\"",
                    r"Failed to pull image .*docker.io/{image}:v9.9: not found",
                ),
                shows(
                    "kubectl -n {ns} rollout status deployment/{t} --timeout=5s",
                    "1 old replicas are pending termination",
                ),
                alert("KubePodImagePullFailing"),
            ),
            (UNDO,),
        ),
        Breakage(
            "command that is not in the image",
            (*services, front),
            (container("command", '["{t}-server"]'),),
            (
                everyone_fine(),
                shows(PODS, r"1/1 +Running", r"0/1 +(RunContainerError|CrashLoopBackOff)"),
                shows(
                    DESCRIBE, r'exec: "{t}-server": executable file not found in \$PATH', "Exit Code: +128"
                ),
                metric(
                    'count(kube_pod_container_status_last_terminated_reason{reason="StartError",pod=~"{t}-.*"} == 1)',
                    least=1,
                ),
            ),
            (UNDO,),
        ),
        Breakage(
            "killed pod",
            services,
            (RESTART,),
            (
                everyone_fine(),
                shows(PODS, r"1/1 +Running +[01]"),
                shows(EVENTS, "Stopping container {c}", "Created pod: {t}-"),
            ),
            ("kubectl -n {ns} get pods",),
        ),
        Breakage(
            "deleted Deployment",
            (*services, front),
            (
                saved("deployment", "{t}"),
                "kubectl -n {ns} delete deployment {t}",
            ),
            (
                its_users_fail("HTTP 500|refused"),
                shows("kubectl -n {ns} get deployment {t}", r'deployments.apps "{t}" not found'),
                shows(PODS, "No resources found in {ns} namespace."),
                no_spans("{t}"),
            ),
            (PUT_BACK,),
        ),
        Breakage(
            "liveness probe of a wrong port",
            services,
            (
                container(
                    "livenessProbe",
                    '{"tcpSocket":{"port":9999},"periodSeconds":5,"failureThreshold":1,"terminationGracePeriodSeconds":1}',
                ),
            ),
            (
                its_users_fail(least=0.3),
                shows(PODS, r"(CrashLoopBackOff|Running|Completed|Error) +[2-9]"),
                shows(
                    DESCRIBE,
                    r"Liveness probe failed: dial tcp 10\.244\.\d+\.\d+:9999: connect: connection refused",
                    "Container {c} failed liveness probe, will be restarted",
                ),
                metric('sum(kube_pod_container_status_restarts_total{container="{c}"})', least=2),
                failing_spans("{web}"),
            ),
            (UNDO,),
            soak_s=60.0,
        ),
        Breakage(
            "readiness probe of a wrong path",
            (front,),
            (
                ONE_AT_MOST,
                container(
                    "readinessProbe", '{"httpGet":{"path":"/healthz","port":{port}},"periodSeconds":5}'
                ),
            ),
            (
                everyone_fails("refused"),
                shows(PODS, r"0/1 +Running +0"),
                shows(DESCRIBE, "Readiness probe failed: HTTP probe failed with statuscode: 404"),
                NO_ENDPOINTS,
                alert("KubeServiceWithoutEndpoints"),
            ),
            (UNDO,),
        ),
        Breakage(
            "readiness probe of a wrong port",
            services,
            (ONE_AT_MOST, container("readinessProbe", '{"tcpSocket":{"port":9999},"periodSeconds":5}')),
            (
                # A registry of the application's own knows no probe of Kubernetes.
                its_users_fail() if known.by_service else everyone_fine(),
                shows(PODS, r"0/1 +Running +0"),
                shows(DESCRIBE, r"Readiness probe failed: dial tcp .*:9999: connect: connection refused"),
                shows("kubectl -n {ns} get deployment {t}", "0/1 +1 +0"),
                alert("KubeServiceWithoutEndpoints"),
            ),
            (UNDO,),
        ),
        Breakage(
            "secret that is not there",
            (*services, front),
            (container("envFrom", '[{"secretRef":{"name":"{t}-credentials"}}]'),),
            (
                everyone_fine(),
                RUNNING,
                shows(PODS, r"0/1 +CreateContainerConfigError"),
                shows(DESCRIBE, r'Error: secret "{t}-credentials" not found'),
                metric(
                    'sum(kube_pod_container_status_waiting_reason{reason="CreateContainerConfigError",pod=~"{t}-.*"})',
                    least=1,
                ),
            ),
            (UNDO,),
        ),
    )

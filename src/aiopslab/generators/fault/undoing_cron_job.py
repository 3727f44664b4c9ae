"""A CronJob of another team scales a workload to zero again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.blocked_pods import list_namespace
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at

SCALE: Final = """T=/var/run/secrets/kubernetes.io/serviceaccount
curl -sS --fail --cacert $T/ca.crt -X PATCH -H "Authorization: Bearer $(cat $T/token)" \\
  -H 'Content-Type: application/merge-patch+json' -d '{{"spec":{{"replicas":0}}}}' \\
  https://kubernetes.default.svc/apis/apps/v1/namespaces/{namespace}/deployments/{target}/scale"""


@fault
@dataclass(frozen=True)
class UndoingCronJob(DeclaredFault):
    """A team saves money by a job that turns off idle workloads, and its list names one that users need."""

    job: str = draw_from("idle-shutdown", "cost-saver", "replica-sync", "weekend-mode")
    space: str = draw_from("platform-jobs", "ops-tools", "finops")
    minutes: int = draw_from(2, 1, 3)
    name: ClassVar[str] = "undoing_cron_job"
    course: ClassVar[Course] = "intermittent"
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration",)

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The CronJob, its account and its rights, and the target's Deployment."""
        rights = "rbac.authorization.k8s.io"
        return (
            ("cronjobs.batch", self.job, self.space),
            ("serviceaccounts", self.job, self.space),
            (f"rolebindings.{rights}", self.job),
            (f"roles.{rights}", self.job),
            *super().concerned,
            *list_namespace(self.space),
        )

    def release(self, site: Site) -> None:
        """Create the CronJob, and run it once."""
        ns = f"kubectl -n {self.space}"
        site.run(f"kubectl create namespace {self.space} && {ns} create serviceaccount {self.job}")
        site.kubectl(f"create role {self.job} --verb=get,patch --resource=deployments.apps/scale")
        site.kubectl(
            f"create rolebinding {self.job} --role={self.job} --serviceaccount={self.space}:{self.job}"
        )
        script = SCALE.format(namespace=site.namespace, target=self.target)
        container = {
            "name": "scale",
            "image": "curlimages/curl:8.10.1",
            "command": ["sh", "-c", script],
        }
        pod = {"serviceAccountName": self.job, "restartPolicy": "Never", "containers": [container]}
        spec = {
            "schedule": f"*/{self.minutes} * * * *",
            "jobTemplate": {"spec": {"template": {"spec": pod}}},
        }
        metadata = {"name": self.job, "namespace": self.space}
        site.apply({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec})
        run = f"{self.job}-rehearsal"
        site.run(
            f"{ns} create job {run} --from=cronjob/{self.job} && {ns} wait --for=condition=complete job/{run}"
        )

    def present(self, site: Site) -> bool:
        """Return whether the CronJob may run again, names the target, and may scale it, however seldom it runs."""
        job = site.find("cronjobs.batch", self.job, self.space)
        pod = at(job, "spec", "jobTemplate", "spec", "template", "spec", default={})
        if at(job, "spec", "suspend", default=False) or f"/{self.target}/scale" not in str(pod):
            return False
        account = pod.get("serviceAccountName", "default")
        name = f"system:serviceaccount:{self.space}:{account}"
        asked = f"auth can-i patch deployments.apps/{self.target} --subresource=scale --as={name} || true"
        has_account = site.find("serviceaccounts", account, self.space) is not None
        return has_account and site.kubectl(asked).strip() == "yes"

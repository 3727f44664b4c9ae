"""kube-scheduler: assigns a node to every unscheduled pod, or reports why it cannot."""

from simcloud.kubernetes.scheduler.scheduler import Scheduler as Scheduler

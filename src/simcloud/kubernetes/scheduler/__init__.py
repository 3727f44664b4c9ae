"""kube-scheduler: gives every pod that has no node a node, or says why it cannot."""

from simcloud.kubernetes.scheduler.scheduler import Scheduler

__all__ = ["Scheduler"]

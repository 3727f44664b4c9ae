"""kube-scheduler: gives every pod that has no node a node, or says why it cannot."""

from aiopslab.cluster.scheduler.scheduler import Scheduler

__all__ = ["Scheduler"]

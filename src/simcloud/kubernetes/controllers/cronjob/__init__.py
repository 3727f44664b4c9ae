"""CronJobs: a job at every time of a schedule.

``schedule`` reads a schedule and finds its times, ``due`` tells which time is to be served now and when to
wake next, ``controller`` is the loop.
"""

from __future__ import annotations

from simcloud.kubernetes.controllers.cronjob.controller import CronJobs

__all__ = ["CronJobs"]

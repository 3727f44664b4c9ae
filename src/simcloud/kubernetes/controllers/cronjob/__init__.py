"""CronJobs: a job at every time of a schedule.

``schedule`` parses a schedule and finds its times; ``controller`` is the control loop.
"""

from __future__ import annotations

from simcloud.kubernetes.controllers.cronjob.controller import CronJobs as CronJobs

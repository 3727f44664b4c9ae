"""Jobs: pods that run to completion, counted exactly once each.

``controller`` is the control loop: it takes a snapshot of a job (``snapshot``), decides whether the job is over
(``verdict``), creates and deletes pods (``parallelism``) and counts those that ended (``tracking``). ``indexes``,
``policies`` and ``backoff`` have the rules.
"""

from __future__ import annotations

from simcloud.kubernetes.controllers.job.controller import Jobs as Jobs

"""Jobs: pods that run to completion, counted exactly once each.

``controller`` is the loop; it looks at a job (``look``), decides whether the job is over (``verdict``),
makes and deletes pods (``staffing``) and counts those that ended (``tracking``). ``indexes``,
``policies`` and ``backoff`` are the rules these rest on.
"""

from __future__ import annotations

from simcloud.kubernetes.controllers.job.controller import Jobs

__all__ = ["Jobs"]

"""SocialNetwork with users on it: from nothing to a prepared problem, one request with everything on, copies, memory.

See ``_apps.py`` for what is on and for the budgets. ``python benchmarks/social.py [--json]``
"""

from __future__ import annotations

from _apps import run

from aiopslab.apps.socialnet import SocialNetwork

if __name__ == "__main__":
    raise SystemExit(run(SocialNetwork(), "user-service"))

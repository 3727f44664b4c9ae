"""Names of the releases of the Go programs.

A release is an image with a configuration. A bad release has a wrong setting, such as the published
``yinfangchen/geo:app3``, which has a wrong port of its database.
"""

from __future__ import annotations

from typing import Final

RELEASE: Final = "yinfangchen/hotelreservation:latest"
RETRYING_RELEASE: Final = "yinfangchen/hotelreservation:retries"
RANKING_RELEASE: Final = "yinfangchen/hotelreservation:ranking"
BAD_GEO: Final = "yinfangchen/geo:app3"

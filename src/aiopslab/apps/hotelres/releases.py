"""What releases of the Go programs are called.

A release is an image with a configuration; one with a wrong value in it is a bad release, such as the published
``yinfangchen/geo:app3``, whose database has another port.
"""

from __future__ import annotations

from typing import Final

RELEASE: Final = "yinfangchen/hotelreservation:latest"
RETRYING_RELEASE: Final = "yinfangchen/hotelreservation:retries"
BAD_GEO: Final = "yinfangchen/geo:app3"

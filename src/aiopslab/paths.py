"""The paths of the public AIOpsLab release.

Records are written to ``RESULTS_DIR``. The applications, their metadata and the fault scripts of the public release are not part
of this package: their paths can be built and passed on, and nothing reads them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from aiopslab.config import Config

HOME_DIR: Final = Path.home()
BASE_DIR: Final = Path(__file__).resolve().parent
BASE_PARENT_DIR: Final = BASE_DIR.parent
config: Final = Config(BASE_DIR / "config.yml")

TARGET_MICROSERVICES: Final = BASE_PARENT_DIR / "aiopslab-applications"

DATA_DIR: Final = Path(config.get("data_dir", "."))
"""Relative to the working directory."""
RESULTS_DIR: Final = DATA_DIR / "results"
PLOTS_DIR: Final = DATA_DIR / "plots"

CACHE_DIR: Final = HOME_DIR / ".cache" / "aiopslab"
LLM_CACHE_FILE: Final = CACHE_DIR / "llm_cache.json"

FAULT_SCRIPTS: Final = BASE_DIR / "generators" / "fault" / "script"

METADATA: Final = BASE_DIR / "service" / "metadata"
SOCIAL_NETWORK_METADATA: Final = METADATA / "social-network.json"
HOTEL_RES_METADATA: Final = METADATA / "hotel-reservation.json"
PROMETHEUS_METADATA: Final = METADATA / "prometheus.json"
TRAIN_TICKET_METADATA: Final = METADATA / "train-ticket.json"
ASTRONOMY_SHOP_METADATA: Final = METADATA / "astronomy-shop.json"
TIDB_METADATA: Final = METADATA / "tidb-with-operator.json"
FLIGHT_TICKET_METADATA: Final = METADATA / "flight-ticket.json"
FLOWER_METADATA: Final = METADATA / "flower.json"

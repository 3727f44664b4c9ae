"""``Loki`` of the public AIOpsLab release: LogQL queries on the current cloud's logs."""

from __future__ import annotations

from typing import Any

from aiopslab.service.current import get_cloud


class Loki:
    """Answers as Loki's HTTP API does; the URL is not used."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url

    def query(
        self, query: str, limit: int = 100, time: str | None = None, direction: str = "backward"
    ) -> Any:
        """Return the document of an instant query, or the text of an error."""
        return _ask("query", query=query, limit=limit, time=time, direction=direction)

    def query_range(
        self,
        query: str,
        limit: int = 100,
        start: str | None = None,
        end: str | None = None,
        since: str | None = None,
        step: str | None = None,
        interval: str | None = None,
        direction: str = "backward",
    ) -> Any:
        """Return the document of a query over a period, the last hour by default, or the text of an error."""
        return _ask(
            "query_range",
            query=query,
            limit=limit,
            start=start,
            end=end,
            since=since,
            step=step,
            interval=interval,
            direction=direction,
        )


def _ask(what: str, **parameters: Any) -> Any:
    from simcloud.telemetry.logs import LokiApi  # loads the telemetry

    monitoring = get_cloud("Loki").monitoring
    given = {name: [str(value)] for name, value in parameters.items() if value is not None}
    return LokiApi(monitoring.logs, monitoring.now_ns).answer(f"/loki/api/v1/{what}", given)[1]

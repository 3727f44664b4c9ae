"""The page that a browser finds at the address of telemetry: what can be asked, with links."""

from __future__ import annotations

from typing import Final

_LINKS: Final = {
    "Prometheus": (
        "/api/v1/query?query=up",
        "/api/v1/alerts",
        "/api/v1/targets",
        "/api/v1/rules",
        "/api/v1/label/__name__/values",
    ),
    "Jaeger": ("/api/services", "/api/dependencies?lookback=3600000"),
    "Loki": ("/loki/api/v1/labels", "/loki/api/v1/label/namespace/values"),
    "who calls whom": ("/topology?lookback_s=300",),
}


def _page() -> str:
    parts = []
    for name, links in _LINKS.items():
        items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
        parts.append(f"<h2>{name}</h2><ul>{items}</ul>")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>aiopslab telemetry</title>'
        "<style>body{font:16px/1.5 system-ui;margin:3em auto;max-width:40em}h2{margin-bottom:0}</style>"
        "<h1>Telemetry of this cluster</h1><p>This address is a data source for Grafana: Prometheus, Jaeger and Loki at once."
        f"</p>{''.join(parts)}</html>"
    )


WELCOME: Final = _page()

"""promtool and amtool, the tools in the images of Prometheus and Alertmanager: checks, queries, alerts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

from simcloud.kubernetes.network import exchange, go_words
from simcloud.machine.network import HttpRequest, HttpResponse, NetworkError
from simcloud.machine.process import Context
from simcloud.telemetry.rules import BadRules, read_rules
from simcloud.telemetry.stack.prometheus import BadConfig, parse_config, read_text

URL_FLAG: Final = "--alertmanager.url="


class ToolError(Exception):
    """A tool cannot do what it was asked for; the message says why."""


async def promtool(ctx: Context) -> int:
    """Check a configuration or rules, or evaluate an expression at the present time."""
    words = ctx.args[1:]
    if words[:2] == ["check", "config"] and len(words) > 2:
        results = [await _check_config(ctx, path) for path in words[2:]]
        return int(not all(results))
    if words[:2] == ["check", "rules"] and len(words) > 2:
        results = [await _check_rules(ctx, path) for path in words[2:]]
        return int(not all(results))
    if words[:2] == ["query", "instant"] and len(words) == 4:
        return await _query(ctx, words[2], words[3])
    expected = "check config FILE, check rules FILE and query instant URL EXPRESSION"
    await ctx.err(f"promtool: error: only {expected} are supported, try --help\n")
    return 1


async def _check_config(ctx: Context, path: str) -> bool:
    await ctx.out(f"Checking {path}\n")
    rule_files: list[str] = []
    is_valid = True
    try:
        _, rule_files = parse_config(read_text(ctx, path), path)
        found = f"  SUCCESS: {len(rule_files)} rule files found\n" if rule_files else ""
        await ctx.out(f"{found} SUCCESS: {path} is valid prometheus config file syntax\n")
    except BadConfig as error:
        is_valid = False
        await ctx.err(f"  FAILED: {error}\n")
    await ctx.out("\n")
    return all([is_valid, *[await _check_rules(ctx, file) for file in rule_files]])


async def _check_rules(ctx: Context, path: str) -> bool:
    await ctx.out(f"Checking {path}\n")
    try:
        groups = read_rules(read_text(ctx, path), path)
        await ctx.out(f"  SUCCESS: {sum(len(group.rules) for group in groups)} rules found\n\n")
    except (BadConfig, BadRules) as error:
        await ctx.err(f"  FAILED:\n{error}\n")
        await ctx.out("\n")
        return False
    return True


async def _query(ctx: Context, url: str, expression: str) -> int:
    try:
        answer = await _get(ctx, url, f"/api/v1/query?query={quote_plus(expression)}")
    except ToolError as error:
        await ctx.err(f"query error: {error}\n")
        return 1
    if answer.get("status") != "success":
        await ctx.err(f"query error: {answer.get('errorType')}: {answer.get('error')}\n")
        return 1
    data = answer["data"]
    if data["resultType"] == "vector":
        for series in data["result"]:
            await ctx.out(f"{_format_metric(series['metric'])} => {_format_sample(series['value'])}\n")
    elif data["resultType"] == "matrix":
        for series in data["result"]:
            samples = "\n".join(map(_format_sample, series["values"]))
            await ctx.out(f"{_format_metric(series['metric'])} =>\n{samples}\n")
    else:
        await ctx.out(f"{data['resultType']}: {_format_sample(data['result'])}\n")
    return 0


def _format_metric(labels: dict[str, str]) -> str:
    name = labels.get("__name__", "")
    pairs = ", ".join(
        f"{label}={json.dumps(labels[label])}" for label in sorted(labels) if label != "__name__"
    )
    return f"{name}{{{pairs}}}" if pairs or not name else name


def _format_sample(sample: list[Any]) -> str:
    time = f"{sample[0]:.3f}".rstrip("0").rstrip(".")
    return f"{sample[1]} @[{time}]"


async def amtool(ctx: Context) -> int:
    """Show alerts, silences or the configuration of an Alertmanager."""
    words = [word for word in ctx.args[1:] if not word.startswith("-")]
    url = next((word.removeprefix(URL_FLAG) for word in ctx.args if word.startswith(URL_FLAG)), "")
    try:
        if not url:
            raise ToolError("required flag --alertmanager.url not provided, try --help")
        if words[:1] == ["alert"]:
            filters = words[2:] if words[1:2] == ["query"] else words[1:]
            query = "&".join(f"filter={quote_plus(_format_matcher(word))}" for word in filters)
            await ctx.out(_format_alerts(await _get(ctx, url, f"/api/v2/alerts?{query}")))
        elif words in (["silence"], ["silence", "query"]):
            await ctx.out(_align([["ID", "Matchers", "Ends At", "Created By", "Comment"]]))
        elif words in (["config"], ["config", "show"]):
            await ctx.out(f"{(await _get(ctx, url, '/api/v2/status'))['config']['original']}\n")
        else:
            raise ToolError("only alert, silence query and config show are supported, try --help")
    except ToolError as error:
        await ctx.err(f"amtool: error: {error}\n")
        return 1
    return 0


def _format_matcher(word: str) -> str:
    """A word alone is the name of an alert."""
    if "=" not in word:
        return f'alertname="{word}"'
    label, operator, value = word.partition("=~") if "=~" in word else word.partition("=")
    return f"{label}{operator}{json.dumps(value.strip(chr(34)))}"


def _format_alerts(alerts: list[dict[str, Any]]) -> str:
    rows = [["Alertname", "Starts At", "Summary", "State"]]
    for alert in sorted(alerts, key=lambda alert: str(alert["startsAt"])):
        starts = datetime.fromisoformat(alert["startsAt"]).astimezone(UTC)
        summary = alert["annotations"].get("summary", "")
        name, state = alert["labels"].get("alertname", ""), alert["status"]["state"]
        rows.append([name, f"{starts:%Y-%m-%d %H:%M:%S} UTC", summary, state])
    return _align(rows)


def _align(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    return "".join("".join(map(str.ljust, row, widths)) + "\n" for row in rows)


async def _get(ctx: Context, url: str, path: str) -> Any:
    """Return the JSON document at a URL; raises ``ToolError`` if there is none."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        host, port = parts.hostname or "localhost", parts.port or 80
        request = HttpRequest("GET", parts.path.rstrip("/") + path, {"Host": parts.netloc})
        response = await exchange(ctx.container.namespace, host, port, parts.scheme, request)
    except NetworkError as error:
        raise ToolError(f'Get "{url}{path}": {go_words(error, f"{parts.hostname}:{port}")}') from None
    except ValueError:
        raise ToolError(f'parse "{url}": invalid port') from None
    if not isinstance(response, HttpResponse):
        raise ToolError(f'Get "{url}{path}": malformed HTTP response')
    try:
        return json.loads(response.body)
    except ValueError:
        raise ToolError(response.body.decode("utf-8", "replace").strip()) from None

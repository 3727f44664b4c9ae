"""Functions on maps. ``set``, ``unset`` and ``merge`` change their argument, as sprig's do."""

from __future__ import annotations

from typing import Any

from simcloud.golang import type_name
from simcloud.golang.template import CallError, Function, absent
from simcloud.helm.functions.values import MAP, Strings, empty, text_of
from simcloud.kubernetes.api import copy

_S = "string"


def _dict(*pairs: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for place in range(0, len(pairs), 2):
        made[text_of(pairs[place])] = pairs[place + 1] if place + 1 < len(pairs) else ""
    return made


def _set(held: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    held[name] = value
    return held


def _unset(held: dict[str, Any], name: str) -> dict[str, Any]:
    held.pop(name, None)
    return held


def _get(held: dict[str, Any], name: str) -> Any:
    return held.get(name, "")


def _merge(target: dict[str, Any], *sources: dict[str, Any]) -> dict[str, Any]:
    for source in sources:
        _fill(target, source)
    return target


def _fill(target: dict[str, Any], source: dict[str, Any]) -> None:
    for name, value in source.items():
        if isinstance(target.get(name), dict) and isinstance(value, dict):
            _fill(target[name], value)
        elif name not in target or empty(target[name]):
            target[name] = value


def _merge_overwrite(target: dict[str, Any], *sources: dict[str, Any]) -> dict[str, Any]:
    for source in sources:
        _overwrite(target, source)
    return target


def _overwrite(target: dict[str, Any], source: dict[str, Any]) -> None:
    for name, value in source.items():
        if isinstance(target.get(name), dict) and isinstance(value, dict):
            _overwrite(target[name], value)
        elif name not in target or not empty(value):
            target[name] = value


def _keys(*maps: dict[str, Any]) -> Strings:
    return Strings(name for held in maps for name in sorted(held))


def _pluck(name: str, *maps: dict[str, Any]) -> list[Any]:
    return [held[name] for held in maps if name in held]


def _pick(held: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: held[name] for name in names if name in held}


def _omit(held: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in held.items() if name not in names}


def _dig(*path: Any) -> Any:
    if len(path) < 3:
        raise CallError("dig needs at least three arguments")
    held, standard = path[-1], path[-2]
    if not isinstance(held, dict):
        raise CallError(f"interface conversion: interface {{}} is {type_name(held)}, not {MAP}")
    for place, name in enumerate(path[:-2]):
        if not isinstance(held, dict):
            raise CallError(f"interface conversion: interface {{}} is {_type(held)}, not {MAP}")
        if not isinstance(name, str):
            raise CallError(f"interface conversion: interface {{}} is {_type(name)}, not string")
        if name not in held:
            return standard
        held = held[name]
        if place == len(path) - 3:
            return held
    return held


def _type(value: Any) -> str:
    return "nil" if absent(value) else type_name(value)


def _deep_copy(value: Any) -> Any:
    return copy(value) if isinstance(value, (dict, list)) else value


COLLECTIONS: dict[str, Function] = {
    "dict": Function(_dict, 0),
    "get": Function(_get, 2, 2, (MAP, _S)),
    "set": Function(_set, 3, 3, (MAP, _S, "")),
    "unset": Function(_unset, 2, 2, (MAP, _S)),
    "hasKey": Function(lambda held, name: name in held, 2, 2, (MAP, _S)),
    "keys": Function(_keys, 0, None, (MAP,)),
    "values": Function(lambda held: [held[name] for name in sorted(held)], 1, 1, (MAP,)),
    "pluck": Function(_pluck, 1, None, (_S, MAP)),
    "pick": Function(_pick, 1, None, (MAP, _S)),
    "omit": Function(_omit, 1, None, (MAP, _S)),
    "merge": Function(_merge, 1, None, (MAP,)),
    "mustMerge": Function(_merge, 1, None, (MAP,)),
    "mergeOverwrite": Function(_merge_overwrite, 1, None, (MAP,)),
    "mustMergeOverwrite": Function(_merge_overwrite, 1, None, (MAP,)),
    "dig": Function(_dig, 0),
    "deepCopy": Function(_deep_copy, 1, 1),
    "mustDeepCopy": Function(_deep_copy, 1, 1),
}

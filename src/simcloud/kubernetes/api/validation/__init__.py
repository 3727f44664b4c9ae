"""Validation rules of all kinds, with Kubernetes' messages.

Each module in this package has the rules of some kinds and registers them (see ``registry.py``); every module is
imported automatically. Objects are decoded and defaulted before validation. For custom resources only the metadata is
validated here; ``schema.crd_validation`` checks the rest.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from simcloud.exports import export_lazily
from simcloud.kubernetes.api.field_errors import FieldError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.validation import metadata
from simcloud.kubernetes.api.validation.registry import RULES, WARNINGS

with export_lazily(globals()):
    from simcloud.kubernetes.api.validation.names import (
        config_map_key as config_map_key,
        describe_form as describe_form,
        dns1123_subdomain as dns1123_subdomain,
        label_value as label_value,
        port_number as port_number,
        qualified_name as qualified_name,
    )


@cache
def _load() -> None:
    """Import every rule module, so that its rules are registered."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        import_module(module.name)


def validate_create(resource: Resource, obj: Object) -> list[FieldError]:
    """What is wrong with a new object: metadata first, then its own rules."""
    _load()
    errors = metadata.on_create(resource, obj)
    rule = None if resource.custom else RULES.get((resource.group, resource.kind))
    return _once(errors + (rule(obj, None) if rule else []))


def validate_update(resource: Resource, new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed object, and what of it may not change."""
    _load()
    errors = metadata.on_update(resource, new, old)
    rule = None if resource.custom else RULES.get((resource.group, resource.kind))
    return _once(errors + (rule(new, old) if rule else []))


def warnings_for(resource: Resource, obj: Object, old: Object | None = None) -> list[str]:
    """What the writer of an object is warned of."""
    _load()
    messages = metadata.warnings(resource, obj, old)
    warner = None if resource.custom else WARNINGS.get((resource.group, resource.kind))
    return messages + (warner(obj, old) if warner else [])


def _once(errors: list[FieldError]) -> list[FieldError]:
    """Each error once, where it first stands."""
    return list(dict.fromkeys(errors))

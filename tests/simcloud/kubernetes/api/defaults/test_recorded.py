"""What was recorded from a genuine server comes out of defaulting unchanged, and its manifest becomes it."""

import pytest

from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.resources import Catalogue, Resource
from tests.simcloud.kubernetes.api.defaults.recordings import (
    Object,
    Recording,
    recordings,
    wanted,
    without_nulls,
)

CATALOGUE = Catalogue()


def resource_of(obj: Object) -> Resource:
    resource = CATALOGUE.of_kind(obj["apiVersion"], obj["kind"])
    assert resource is not None
    return resource


@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_a_recorded_object_stays_as_it_is(recording: Recording) -> None:
    obj = copy(recording.recorded)
    apply_defaults(resource_of(obj), obj)
    assert obj == recording.recorded


@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_a_recorded_object_is_printed_again_as_it_was_after_decoding_dropped_its_nulls(
    recording: Recording,
) -> None:
    obj = without_nulls(recording.recorded)
    apply_defaults(resource_of(obj), obj)
    assert obj == recording.recorded


@pytest.mark.parametrize("recording", [one for one in recordings() if one.manifest], ids=str)
def test_a_manifest_becomes_what_the_genuine_server_made_of_it(recording: Recording) -> None:
    obj = copy(recording.manifest)
    apply_defaults(resource_of(obj), obj)
    expected = wanted(recording.recorded)
    if obj["kind"] == "Job":  # its selector and labels need the uid: the strategy's work
        del expected["selector"]
        expected["template"]["metadata"] = {}
    assert wanted(obj) == expected

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import BadRequest
from simcloud.server.kubernetes.streams.channels import (
    COMMANDS,
    MESSAGE_BYTES,
    PLAIN,
    PORTS,
    BadMessage,
    Dialect,
    choose,
)

DIALECTS = st.sampled_from([*COMMANDS, *PORTS, PLAIN])


@given(DIALECTS, st.integers(0, 4), st.binary(max_size=100))
def test_what_is_encoded_is_decoded(dialect: Dialect, channel: int, data: bytes) -> None:
    assert dialect.decode(dialect.encode(channel, data)) == (channel, data)


@given(DIALECTS, st.one_of(st.binary(max_size=100), st.text(max_size=100)))
def test_any_message_is_understood_or_ends_the_connection(dialect: Dialect, message: bytes | str) -> None:
    try:
        heard = dialect.decode(message)
    except BadMessage as bad:
        assert bad.code == 1007
    else:
        assert heard is None or -48 <= heard[0] <= 255


def test_the_base64_variants_number_channels_by_digits() -> None:
    spoken = choose(["base64.channel.k8s.io"], COMMANDS)
    assert spoken.encode(1, b"hi") == "1aGk="
    assert spoken.decode("0bHMK") == (0, b"ls\n")


def test_text_is_as_good_as_bytes() -> None:
    assert choose(["v4.channel.k8s.io"], COMMANDS).decode("\0ls\n") == (0, b"ls\n")


def test_a_huge_message_ends_the_connection() -> None:
    with pytest.raises(BadMessage) as caught:
        PLAIN.decode(bytes(MESSAGE_BYTES + 1))
    assert caught.value.code == 1009


def test_the_first_known_variant_is_chosen() -> None:
    assert choose(["v9.channel.k8s.io", "v5.channel.k8s.io", "v4.channel.k8s.io"], COMMANDS).closes
    assert choose([], COMMANDS) is PLAIN


def test_unknown_variants_are_refused_by_name() -> None:
    with pytest.raises(
        BadRequest, match=r"^requested protocol\(s\) are not supported: \[v9 v8\]; supports \["
    ):
        choose(["v9", "v8"], COMMANDS)

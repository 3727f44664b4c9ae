import pytest

from simcloud import sim
from simcloud.machine import network
from simcloud.machine.network import Closed, NameNotFound, NetworkError, ProtocolMismatch, ResolverFailure


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("ConnectionRefused", "ECONNREFUSED", "Connection refused"),
        ("ConnectTimedOut", "ETIMEDOUT", "Connection timed out"),
        ("ConnectionTimedOut", "ETIMEDOUT", "Connection timed out"),
        ("HostUnreachable", "EHOSTUNREACH", "No route to host"),
        ("NetworkUnreachable", "ENETUNREACH", "Network is unreachable"),
        ("ConnectionReset", "ECONNRESET", "Connection reset by peer"),
        ("BrokenPipe", "EPIPE", "Broken pipe"),
        ("AddressInUse", "EADDRINUSE", "Address already in use"),
        ("AddressNotAvailable", "EADDRNOTAVAIL", "Cannot assign requested address"),
        ("NotConnected", "ENOTCONN", "Transport endpoint is not connected"),
        ("NoBufferSpace", "ENOBUFS", "No buffer space available"),
        ("InvalidArgument", "EINVAL", "Invalid argument"),
    ],
)
def test_errors_speak_the_words_of_linux(name, code, words):
    error = getattr(network, name)()
    assert isinstance(error, NetworkError)
    assert (error.code, str(error)) == (code, words)


def test_resolver_errors_carry_the_name():
    assert (str(NameNotFound("web")), NameNotFound("web").name) == ("Name or service not known", "web")
    assert str(ResolverFailure("web")) == "Temporary failure in name resolution"


def test_mismatch_says_what_was_spoken_and_what_expected():
    error = ProtocolMismatch("http", "grpc")
    assert (error.spoken, error.expected) == ("http", "grpc")
    assert str(error) == "http was spoken where grpc is expected"


def test_the_orderly_end_is_the_same_as_that_of_a_queue():
    assert issubclass(Closed, sim.Closed)

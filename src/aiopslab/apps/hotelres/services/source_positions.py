"""Source locations of the programs' log lines and stack traces."""

from __future__ import annotations

from typing import Final, NamedTuple

ROOT: Final = "/go/src/github.com/harlow/go-micro-services"
ZEROLOG: Final = f"{ROOT}/vendor/github.com/rs/zerolog"
GRPC: Final = f"{ROOT}/vendor/google.golang.org/grpc"
HANDLERS: Final = {"GetRates": 253, "GetProfiles": 293, "MakeReservation": 163, "CheckAvailability": 181}
"""Line numbers in ``proto/<name>.pb.go`` from which the methods are called."""
GOROUTINES: Final = {"GetRates.func1": ("GetRates", 151)}
"""The method that starts a goroutine, and the line where it does."""


class MainLines(NamedTuple):
    """Line numbers in ``cmd/<name>/main.go`` (0: none), and in the server that registers itself."""

    config: int
    port: int
    jaeger: int
    consul: int
    start: int
    database: int = 0
    cache: int = 0
    registered: int = 0
    listening: int = 0
    """Where the server ends the program if its port is taken; 0 if ``main.go`` does."""


class DatabaseLines(NamedTuple):
    """Line numbers in ``cmd/<name>/db.go``."""

    dialled: int
    """Where the program ends if the database cannot be reached."""
    refused: int
    """Where the program ends if the database refuses the first query."""


LINES: Final = {
    "frontend": MainLines(23, 39, 48, 55, 70),
    "search": MainLines(24, 40, 51, 58, 74, registered=100, listening=80),
    "geo": MainLines(23, 45, 55, 63, 79, database=36, registered=110),
    "rate": MainLines(24, 51, 61, 68, 85, database=37, cache=43, registered=99, listening=79),
    "profile": MainLines(24, 50, 61, 68, 85, database=37, cache=43, registered=99, listening=79),
    "recommendation": MainLines(24, 46, 57, 64, 80, database=37, registered=97, listening=77),
    "user": MainLines(24, 45, 56, 63, 79, database=37, registered=97, listening=77),
    "reservation": MainLines(25, 51, 62, 69, 86, database=38, cache=44, registered=99, listening=77),
}

DATABASE_LINES: Final = {
    "geo": DatabaseLines(26, 35),
    "rate": DatabaseLines(36, 45),
    "profile": DatabaseLines(33, 42),
    "recommendation": DatabaseLines(22, 31),
    "reservation": DatabaseLines(27, 35),
    "user": DatabaseLines(21, 38),
}


def build_main_frames(name: str, line: int, *inner: str) -> tuple[str, ...]:
    """Return the stack trace of a panic in the main goroutine; ``inner`` are the frames below ``main``, innermost first."""
    return (*inner, "main.main()", f"\t{ROOT}/cmd/{name}/main.go:{line} +0x4c5")


def build_logger_frames(is_formatted: bool = False) -> tuple[str, ...]:
    """Return the frames of a logger that panics after it has written its line, which may have been formatted by it."""
    called = (
        "github.com/rs/zerolog.(*Event).Msgf(0xc0000b00c0, {0x96f4a1, 0x38}, {0xc000325838, 0x2, 0x2})",
        f"\t{ZEROLOG}/event.go:131 +0x4e",
    )
    return (
        "github.com/rs/zerolog.(*Logger).Panic.func1({0xc00002e2a0, 0x0})",
        f"\t{ZEROLOG}/log.go:405 +0x2d",
        "github.com/rs/zerolog.(*Event).msg(0xc0000b00c0, {0xc00002e2a0, 0x14})",
        f"\t{ZEROLOG}/event.go:158 +0x2b8",
        *(
            called
            if is_formatted
            else ("github.com/rs/zerolog.(*Event).Msg(...)", f"\t{ZEROLOG}/event.go:110")
        ),
    )


def build_handler_frames(name: str, method: str, line: int) -> tuple[str, ...]:
    """Return the stack trace of a logger's panic in a call handler, or in a goroutine that a handler started."""
    package, file = (
        f"github.com/harlow/go-micro-services/services/{name}",
        f"{ROOT}/services/{name}/server.go",
    )
    frames = build_logger_frames(is_formatted=True)
    if method in GOROUTINES:
        caller, started = GOROUTINES[method]
        return (
            *frames,
            f"{package}.(*Server).{method}({{0xc0003b41a0, 0x2}})",
            f"\t{file}:{line} +0x6d1",
            f"created by {package}.(*Server).{caller}",
            f"\t{file}:{started} +0x5a6",
        )
    handler = f"{package}/proto._{name.title()}_{method}_Handler"
    proto = f"\t{ROOT}/services/{name}/proto/{name}.pb.go"
    return (
        *frames,
        f"{package}.(*Server).{method}(0xc00018c0c0, {{0xb8f6c8, 0xc0003f6150}}, 0xc0003b4180)",
        f"\t{file}:{line} +0x6d1",
        f"{handler}.func1({{0xb8f6c8, 0xc0003f6150}}, {{0x9f2a80, 0xc0003b4180}})",
        f"{proto}:{HANDLERS[method]} +0x7b",
        "github.com/grpc-ecosystem/grpc-opentracing/go/otgrpc.OpenTracingServerInterceptor.func1"
        "({0xb8f6c8, 0xc0003f6060}, {0x9f2a80, 0xc0003b4180}, 0xc0003a6020, 0xc000392048)",
        f"\t{ROOT}/vendor/github.com/grpc-ecosystem/grpc-opentracing/go/otgrpc/server.go:61 +0x3f5",
        f"{handler}({{0x9c5e40, 0xc00018c0c0}}, {{0xb8f6c8, 0xc0003f6060}}, 0xc0003b4120, 0xc0001a4030)",
        f"{proto}:{HANDLERS[method] + 2} +0x138",
        "google.golang.org/grpc.(*Server).processUnaryRPC(0xc0001b8000, {0xb94d50, 0xc0001e4300}, 0xc0003ea000)",
        f"\t{GRPC}/server.go:920 +0xc2f",
        "google.golang.org/grpc.(*Server).handleStream(0xc0001b8000, {0xb94d50, 0xc0001e4300}, 0xc0003ea000, 0x0)",
        f"\t{GRPC}/server.go:1142 +0xa2a",
        "google.golang.org/grpc.(*Server).serveStreams.func1.1()",
        f"\t{GRPC}/server.go:637 +0x98",
        "created by google.golang.org/grpc.(*Server).serveStreams.func1",
        f"\t{GRPC}/server.go:635 +0x294",
    )

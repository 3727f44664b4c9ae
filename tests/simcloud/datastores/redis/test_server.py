"""redis-server and redis-cli as an operator meets them."""

from __future__ import annotations

import pytest

from simcloud.datastores.redis import redis_image
from simcloud.machine.process import ByteSource, Capture, Container, Process, Signal
from tests.simcloud.datastores.small_world import SmallWorld

ADDRESS = "10.1.0.9"


class Redis:
    """A server and a shell beside it."""

    def __init__(self, *args: str, memory_limit_bytes: int | None = None) -> None:
        self.world = SmallWorld(redis=ADDRESS)
        self.container: Container
        self.process: Process
        self.container, self.process = self.world.run(
            "redis", ADDRESS, redis_image(), *args, memory_limit_bytes=memory_limit_bytes
        )

    def type(self, line: str) -> str:
        done = self.world.shell(line, self.container)
        return (done.stdout + done.stderr).decode()

    def send(self, text: str) -> str:
        return self.type(f"exec 3<>/dev/tcp/10.1.0.9/6379; printf '{text}' >&3; timeout 1 cat <&3")

    def cli(self, words: str) -> str:
        return self.type(f"redis-cli {words}")

    def logged(self) -> str:
        return "\n".join(line.text for line in self.world.emitter.logs)

    def restart(self, *options: str) -> None:
        self.process = self.container.start(["redis-server", "--dir", "/data", *options])
        self.world.kernel.run_for(1)


def test_it_says_when_it_is_ready() -> None:
    lines = Redis().logged().split("\n")
    assert lines[0] == "1:C 05 Jan 2026 09:00:00.001 # oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo"
    assert lines[-1] == "1:M 05 Jan 2026 09:00:00.001 * Ready to accept connections"


def test_bytes_are_answered_in_the_protocol() -> None:
    redis = Redis()
    assert redis.send("PING\\r\\nset a 1\\r\\nget a\\r\\nquit\\r\\n") == "+PONG\r\n+OK\r\n$1\r\n1\r\n+OK\r\n"
    assert redis.send("*1\\r\\nx") == ""
    assert redis.send("*1\\r\\n+PING\\r\\n") == "-ERR Protocol error: expected '$', got '+'\r\n"


def test_a_password() -> None:
    redis = Redis("--requirepass", "secret")
    assert redis.cli("ping") == "NOAUTH Authentication required.\n\n"
    warning = (
        "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
    )
    assert sorted(redis.cli("-a secret ping").split("\n")) == sorted(f"PONG\n{warning}".split("\n"))
    assert redis.cli("-a wrong --no-auth-warning ping") == (
        "NOAUTH Authentication required.\n\nAUTH failed: WRONGPASS invalid username-password pair or user is disabled.\n"
    )
    assert redis.type("REDISCLI_AUTH=secret redis-cli config set requirepass ''") == "OK\n"
    assert redis.cli("ping") == "PONG\n"


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost"])
def test_an_address_to_listen_at(address: str) -> None:
    redis = Redis("--bind", address)
    assert redis.cli("ping") == "PONG\n"
    assert redis.cli(f"-h {ADDRESS} ping") == (
        f"Could not connect to Redis at {ADDRESS}:6379: Connection refused\n"
    )


def test_rights() -> None:
    redis = Redis()
    redis.cli("set key1 v")
    assert redis.cli("acl setuser bob on '>pw' '~key*' +get +@connection") == "OK\n"
    as_bob = "--user bob --pass pw --no-auth-warning"
    assert redis.cli(f"{as_bob} get key1") == "v\n"
    assert redis.cli(f"{as_bob} get other") == (
        "NOPERM this user has no permissions to access one of the keys used as arguments\n\n"
    )
    assert redis.cli(f"{as_bob} set key1 x") == (
        "NOPERM this user has no permissions to run the 'set' command or its subcommand\n\n"
    )
    assert redis.cli("acl setuser bob +nosuch") == (
        "ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL\n\n"
    )


def test_keys_expire_in_virtual_time() -> None:
    redis = Redis()
    redis.cli("set a 1 ex 10")
    redis.world.kernel.run_for(9)
    assert redis.cli("get a") == "1\n"
    redis.world.kernel.run_for(2)
    assert redis.cli("dbsize") == "0\n"
    assert "expired_keys:1" in redis.cli("info stats")


def fill(redis: Redis, count: int, size: int = 1000) -> str:
    lines = "".join(f"set key{number} {'x' * size}\\n" for number in range(count))
    return redis.type(f"printf '{lines}' | redis-cli | sort | uniq -c")


def test_memory_is_full() -> None:
    redis = Redis("--maxmemory", "1mb")
    answers = fill(redis, 300)
    assert "OOM command not allowed when used memory > 'maxmemory'." in answers
    assert redis.cli("get key0") == "x" * 1000 + "\n"
    assert redis.cli("del key0") == "1\n"


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-lfu", "allkeys-random"])
def test_memory_is_full_and_old_keys_go(policy: str) -> None:
    redis = Redis("--maxmemory", "1mb", "--maxmemory-policy", policy)
    assert fill(redis, 300).split() == ["300", "OK"]
    assert 100 < int(redis.cli("dbsize")) < 200
    assert "evicted_keys:0" not in redis.cli("info stats")


def test_only_keys_that_expire_may_go() -> None:
    redis = Redis("--maxmemory", "1mb", "--maxmemory-policy", "volatile-lru")
    redis.cli("setex short 1000 v")
    assert "OOM command not allowed" in fill(redis, 300)
    assert redis.cli("exists short") == "0\n"


def test_a_container_with_less_memory_is_killed() -> None:
    redis = Redis(memory_limit_bytes=9 << 20)
    redis.type(f"printf '{'x' * 2000000}' | redis-cli -x set big")
    redis.world.kernel.run_for(1)
    assert not redis.process.alive


def test_data_survives_a_stop() -> None:
    redis = Redis("--dir", "/data")
    for words in ("set s v", "rpush l a b", "hset h f v", "sadd e 3 1 2", "zadd z 1.5 m", "set t 1 ex 1000"):
        redis.cli(words)
    redis.process.send(Signal.TERM, outside=True)
    redis.world.kernel.run_for(1)
    assert "DB saved on disk" in redis.logged()
    redis.restart()
    asked = ("get s", "lrange l 0 -1", "hget h f", "smembers e", "zscore z m", "ttl t")
    assert [redis.cli(words) for words in asked] == ["v\n", "a\nb\n", "v\n", "1\n2\n3\n", "1.5\n", "998\n"]


@pytest.mark.parametrize(
    "change",
    [
        *("zadd z 9 e", "zadd z 0 e", "zadd z 7 a", "zrem z b", "zremrangebyrank z 0 0", "zadd z 2.5 e 10 f"),
        f"zadd z 5 {'long' * 16}",
    ],
)
def test_a_snapshot_after_another_has_what_changed_since(change: str) -> None:
    redis = Redis("--dir", "/data")
    redis.cli("zadd z 1 a 2 b 3 c")
    assert redis.cli("save") == "OK\n"
    redis.cli(change)
    expected = redis.cli("zrange z 0 -1 withscores")
    assert redis.cli("save") == "OK\n"
    redis.process.send(Signal.KILL, outside=True)
    redis.world.kernel.run_for(1)
    redis.restart()
    assert redis.cli("zrange z 0 -1 withscores") == expected


def test_a_killed_server_has_lost_what_was_not_saved() -> None:
    redis = Redis("--dir", "/data")
    redis.cli("set a 1")
    assert redis.cli("bgsave") == "Background saving started\n"
    redis.world.kernel.run_for(1)
    redis.cli("set b 2")
    redis.process.send(Signal.KILL, outside=True)
    redis.world.kernel.run_for(1)
    redis.restart()
    assert redis.cli("mget a b") == "1\n\n"


def test_the_append_only_file_keeps_everything() -> None:
    redis = Redis("--appendonly", "yes", "--dir", "/data")
    redis.cli("set a 1")
    redis.cli("incr a")
    redis.cli("-n 3 set c 1 ex 100")
    assert "incr" in redis.type("cat /data/appendonly.aof")
    redis.process.send(Signal.KILL, outside=True)
    redis.world.kernel.run_for(1)
    redis.restart("--appendonly", "yes")
    assert redis.cli("get a") == "2\n"
    assert 90 < int(redis.cli("-n 3 ttl c")) <= 100


def test_nothing_is_written_when_snapshots_fail() -> None:
    redis = Redis("--dir", "/data")
    redis.type("rm -r /data; mkdir /data2")
    assert redis.cli("set a 1") == "OK\n"
    redis.cli("bgsave")
    redis.world.kernel.run_for(1)
    assert "Background saving error" in redis.logged()
    assert redis.cli("set a 2").startswith("MISCONF Redis is configured to save RDB snapshots, but")
    assert redis.cli("get a") == "1\n"
    assert redis.cli("config set stop-writes-on-bgsave-error no") == "OK\n"
    assert redis.cli("set a 2") == "OK\n"


def test_the_disk_is_full() -> None:
    redis = Redis("--dir", "/data", "--appendonly", "yes")
    disk = redis.container.machine.disk
    disk.capacity_bytes = disk.used_bytes
    redis.cli("bgsave")
    redis.world.kernel.run_for(1)
    assert "Write error saving DB on disk: No space left on device" in redis.logged()
    assert redis.cli("config set save ''") == "OK\n"
    redis.cli("append a " + "x" * 9000)
    assert redis.cli("set b 1") == "MISCONF Errors writing to the AOF file: No space left on device\n\n"


def test_a_save_dies_with_the_server() -> None:
    redis = Redis("--dir", "/data")
    redis.cli("set a 1")
    redis.cli("bgsave")
    redis.process.send(Signal.KILL, outside=True)
    redis.world.kernel.run_for(1)
    assert redis.type("ls /data") == ""


def test_too_many_clients() -> None:
    redis = Redis("--maxclients", "1")
    redis.type("(exec 3<>/dev/tcp/10.1.0.9/6379; sleep 100) &")
    redis.world.kernel.run_for(1)
    assert redis.cli("ping") == "ERR max number of clients reached\n\n"


def test_slow_commands_are_remembered_and_hold_up_everybody() -> None:
    redis = Redis()
    before = redis.world.kernel.now
    redis.type("redis-cli debug sleep 2 & sleep 0.5; redis-cli ping; wait")
    assert redis.world.kernel.now - before >= 2
    answer = redis.cli("--no-raw slowlog get").split("\n")
    assert int(answer[2].split()[-1]) >= 2_000_000
    assert answer[3:6] == ['   4) 1) "debug"', '      2) "sleep"', '      3) "2"']


def test_the_doctor_explains_slow_commands() -> None:
    redis = Redis()
    assert redis.cli("latency doctor").startswith("I'm sorry, Dave, I can't do that. ")
    redis.cli("config set latency-monitor-threshold 5")
    redis.cli("debug sleep 2")
    spikes, _, advice = redis.cli("latency doctor").partition("\nI have a few advices for you:\n\n")
    assert spikes.endswith("Worst all time event 2000ms.\n")
    tune, read, objects = advice.splitlines()
    assert tune.endswith("Please use 'CONFIG SET slowlog-log-slower-than 5000'.")
    assert read.startswith("- Check your Slow Log ") and objects.startswith(
        "- Deleting, expiring or evicting "
    )


@pytest.mark.parametrize("option", ["--raw", "--no-raw"])
def test_texts_are_printed_as_they_are(option: str) -> None:
    redis = Redis()
    for words in ("info server", "CLIENT LIST", "memory doctor", "latency doctor"):
        shown = redis.cli(f"{option} {words}")
        assert shown[0] != '"' and shown.endswith("\n") and not shown.endswith("\n\n")
    assert redis.cli(f"{option} info nothing") == ""
    assert redis.cli(f"{option} latency doctor now").endswith("HELP.\n\n" if option == "--raw" else "HELP.\n")


def test_who_is_connected() -> None:
    redis = Redis()
    listed = redis.cli("client list")
    assert listed.startswith("id=3 addr=127.0.0.1:")
    assert " db=0 sub=0 psub=0 multi=-1 " in listed
    assert "cmd=client user=default redir=-1\n" in listed
    assert redis.cli("client kill id 3 skipme no") == "0\n"


def test_monitor_shows_commands() -> None:
    redis = Redis()
    shown = redis.type("timeout 2 redis-cli monitor & sleep 1; redis-cli set a 'b c' >/dev/null; wait")
    assert shown.startswith("OK\n")
    assert "[0 127.0.0.1:" in shown
    assert shown.endswith('"set" "a" "b c"\n')


def test_subscribers_get_messages() -> None:
    redis = Redis()
    shown = redis.type("timeout 2 redis-cli subscribe news & sleep 1; redis-cli publish news hello; wait")
    assert shown == "subscribe\nnews\n1\nmessage\nnews\nhello\n1\n"


class TypedByAPerson(ByteSource):
    """What a person types at a terminal."""

    isatty = True


class Screen(Capture):
    """What the person sees."""

    isatty = True


def test_a_conversation() -> None:
    redis = Redis("--requirepass", "secret")
    typed = b"ping\nauth secret\nselect 3\nset a 1\nmulti\nget a\nexec\nclient setname me\nexit\n"
    screen = Screen()
    process = redis.container.start(["redis-cli"], streams={0: TypedByAPerson(typed), 1: screen, 2: screen})
    redis.world.kernel.run_task(redis.world.kernel.spawn(process.wait(), "typed"))
    assert bytes(screen.data).decode().split("\n") == [
        "127.0.0.1:6379> (error) NOAUTH Authentication required.",
        "127.0.0.1:6379> OK",
        "127.0.0.1:6379> OK",
        "127.0.0.1:6379[3]> OK",
        "127.0.0.1:6379[3]> OK",
        "127.0.0.1:6379[3](TX)> QUEUED",
        '127.0.0.1:6379[3](TX)> 1) "1"',
        "127.0.0.1:6379[3]> OK",
        "127.0.0.1:6379[3]> ",
    ]


def test_a_conversation_with_nobody() -> None:
    redis = Redis("sleep", "1000")
    screen = Screen()
    streams = {0: TypedByAPerson(b"ping\nquit\n"), 1: screen, 2: screen}
    process = redis.container.start(["redis-cli"], streams=streams)
    redis.world.kernel.run_task(redis.world.kernel.spawn(process.wait(), "typed"))
    refused = "Could not connect to Redis at 127.0.0.1:6379: Connection refused\n"
    assert bytes(screen.data).decode() == f"{refused}not connected> {refused}not connected> "


def test_configuration_files() -> None:
    redis = Redis(
        "sh", "-c", "printf 'maxmemory 10mb\\nsave 5 1\\n' >/data/redis.conf; redis-server /data/redis.conf"
    )
    assert redis.cli("config get maxmemory") == "maxmemory\n10485760\n"
    assert redis.cli("config get save") == "save\n5 1\n"
    redis.cli("config set maxmemory 20mb")
    assert redis.cli("config rewrite") == "OK\n"
    assert redis.type("cat /data/redis.conf") == "maxmemory 20971520\nsave 5 1\n"
    redis.cli("set a 1")
    redis.world.kernel.run_for(10)
    assert "1 changes in 5 seconds. Saving..." in redis.logged()


def test_a_mistake_in_the_configuration() -> None:
    redis = Redis("redis-server", "--maxmemory-policy", "bogus")
    assert redis.process.status == 1
    assert ">>> 'maxmemory-policy \"bogus\"'" in redis.logged()


def test_stopping_by_command() -> None:
    redis = Redis()
    redis.cli("shutdown nosave")
    redis.world.kernel.run_for(1)
    assert redis.process.status == 0
    assert redis.cli("ping") == "Could not connect to Redis at 127.0.0.1:6379: Connection refused\n"

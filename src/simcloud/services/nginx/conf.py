"""The parser of nginx's configuration, with nginx's error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_DEPTH: Final = 20
TOKEN: Final = re.compile(
    r"""\s+ | \#[^\n]* | (?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') | (?P<mark>[{};]) | (?P<word>[^\s{};"'][^\s{};]*)""",
    re.VERBOSE | re.DOTALL,
)
BLOCKS: Final[dict[str, tuple[str, ...]]] = {
    "events": ("",), "http": ("",), "stream": ("",), "mail": ("",), "server": ("http", "upstream", "stream", "mail"),
    "upstream": ("http", "stream"), "location": ("server", "location"), "if": ("server", "location"), "map": ("http", "stream"),
    "geo": ("http", "stream"), "split_clients": ("http", "stream"), "types": ("http", "server", "location"),
    "limit_except": ("location",),
}  # fmt: skip
"""Directives with a block, and the blocks in which they may stand ("" is the file itself)."""

ONLY_IN: Final[dict[str, tuple[str, ...]]] = {
    "listen": ("server",), "server_name": ("server",), "worker_connections": ("events",), "use": ("events",),
    "multi_accept": ("events",), "worker_processes": ("",), "user": ("",), "pid": ("",), "daemon": ("",), "env": ("",),
    "load_module": ("",), "worker_rlimit_nofile": ("",), "resolver": ("http", "server", "location", "stream"),
    "root": ("http", "server", "location", "if"), "proxy_pass": ("location", "if", "limit_except", "server"),
    "lua_package_path": ("http",), "lua_shared_dict": ("http",), "opentracing_load_tracer": ("http",),
}  # fmt: skip
_FLAGS: Final = (
    "aio_write chunked_transfer_encoding daemon directio_alignment etag gzip gzip_vary if_modified_since ignore_invalid_headers "
    "log_not_found log_subrequest lua_code_cache lua_need_request_body lua_socket_log_errors lua_use_default_type master_process "
    "merge_slashes msie_padding msie_refresh multi_accept pcre_jit port_in_redirect proxy_buffering recursive_error_pages "
    "reset_timedout_connection sendfile server_name_in_redirect tcp_nodelay tcp_nopush underscores_in_headers opentracing "
    "opentracing_trace_locations ssl_prefer_server_ciphers ssl_session_tickets"
)
FLAGS: Final = frozenset(_FLAGS.split())
"""Directives whose only argument is ``on`` or ``off``."""

ARGUMENTS: Final[dict[str, tuple[int, int]]] = {
    "alias": (1, 1), "client_body_buffer_size": (1, 1), "client_body_timeout": (1, 1), "client_header_timeout": (1, 1),
    "client_max_body_size": (1, 1), "default_type": (1, 1), "env": (1, 1), "expires": (1, 2), "include": (1, 1),
    "keepalive_requests": (1, 1), "keepalive_timeout": (1, 2), "load_module": (1, 1), "location": (1, 2),
    "lua_package_cpath": (1, 1), "lua_package_path": (1, 1), "lua_shared_dict": (2, 2), "opentracing_load_tracer": (2, 2),
    "pid": (1, 1), "proxy_pass": (1, 1), "resolver_timeout": (1, 1), "return": (1, 2), "rewrite": (2, 3), "root": (1, 1),
    "send_timeout": (1, 1), "set": (2, 2), "upstream": (1, 1), "use": (1, 1), "user": (1, 2), "worker_connections": (1, 1),
    "worker_processes": (1, 1), "worker_rlimit_nofile": (1, 1), "http": (0, 0), "events": (0, 0), "server": (0, 0),
}  # fmt: skip
LISTEN_WORDS: Final = (
    "default_server", "default", "reuseport", "ssl", "http2", "deferred", "bind", "proxy_protocol",
)  # fmt: skip
LISTEN_SETTINGS: Final = (
    "backlog=", "rcvbuf=", "sndbuf=", "setfib=", "fastopen=", "accept_filter=", "ipv6only=", "so_keepalive=",
)  # fmt: skip
_NAMES: Final = (
    "absolute_redirect accept_mutex accept_mutex_delay access_log add_after_body add_before_body add_header add_trailer aio alias "
    "allow ancient_browser auth_basic auth_basic_user_file auth_request auth_request_set autoindex autoindex_exact_size "
    "autoindex_format break charset charset_types client_body_buffer_size client_body_in_file_only client_body_in_single_buffer "
    "client_body_temp_path client_body_timeout client_header_buffer_size client_header_timeout client_max_body_size "
    "connection_pool_size create_full_put_path debug_connection default_type deny directio disable_symlinks empty_gif env error_log "
    "error_page expires fastcgi_index fastcgi_param fastcgi_pass gzip_buffers gzip_comp_level gzip_disable gzip_http_version "
    "gzip_min_length gzip_proxied gzip_static gzip_types hash http2_max_concurrent_streams http2_max_field_size include index internal "
    "ip_hash keepalive keepalive_disable keepalive_requests keepalive_timeout large_client_header_buffers least_conn limit_conn "
    "limit_conn_log_level limit_conn_zone limit_rate limit_rate_after limit_req limit_req_log_level limit_req_zone lingering_close "
    "lingering_time lingering_timeout listen load_module log_format lua_capture_error_log lua_check_client_abort lua_http10_buffering "
    "lua_max_pending_timers lua_max_running_timers lua_package_cpath lua_package_path lua_regex_cache_max_entries lua_shared_dict "
    "lua_socket_buffer_size lua_socket_connect_timeout lua_socket_keepalive_timeout lua_socket_pool_size lua_socket_read_timeout "
    "lua_socket_send_timeout lua_ssl_trusted_certificate lua_ssl_verify_depth map_hash_bucket_size map_hash_max_size max_ranges "
    "min_delete_depth open_file_cache open_file_cache_errors open_file_cache_min_uses open_file_cache_valid open_log_file_cache "
    "opentracing_load_tracer opentracing_fastcgi_propagate_context opentracing_location_operation_name opentracing_operation_name "
    "opentracing_propagate_context opentracing_tag opentracing_trust_incoming_span output_buffers perl pid postpone_output proxy_bind "
    "proxy_buffer_size proxy_buffers proxy_busy_buffers_size proxy_cache proxy_cache_path proxy_connect_timeout proxy_cookie_path "
    "proxy_headers_hash_bucket_size proxy_headers_hash_max_size proxy_hide_header proxy_http_version proxy_ignore_client_abort "
    "proxy_intercept_errors proxy_max_temp_file_size proxy_method proxy_next_upstream proxy_next_upstream_timeout "
    "proxy_next_upstream_tries proxy_no_cache proxy_pass proxy_pass_header proxy_pass_request_headers proxy_read_timeout proxy_redirect "
    "proxy_request_buffering proxy_send_timeout proxy_set_body proxy_set_header proxy_ssl_verify proxy_temp_path random read_ahead "
    "real_ip_header request_pool_size resolver resolver_timeout return rewrite rewrite_log root satisfy send_lowat send_timeout "
    "sendfile_max_chunk server_name server_names_hash_bucket_size server_names_hash_max_size server_tokens set set_real_ip_from "
    "slice ssi ssl ssl_buffer_size ssl_certificate ssl_certificate_key ssl_ciphers ssl_dhparam ssl_ecdh_curve ssl_protocols "
    "ssl_session_cache ssl_session_timeout ssl_verify_client stub_status sub_filter sub_filter_once subrequest_output_buffer_size "
    "thread_pool timer_resolution try_files types_hash_bucket_size types_hash_max_size upstream_conf use user userid uwsgi_pass "
    "variables_hash_bucket_size variables_hash_max_size worker_aio_requests worker_connections worker_cpu_affinity worker_priority "
    "worker_processes worker_rlimit_core worker_rlimit_nofile worker_shutdown_timeout working_directory xclient zone"
)
NAMES: Final = FLAGS | BLOCKS.keys() | frozenset(_NAMES.split())
LUA: Final = re.compile(
    r"(init|init_worker|set|rewrite|access|content|header_filter|body_filter|log|balancer|ssl_certificate)"
    r"_by_lua(_block|_file)?\Z"
)


class ConfError(Exception):
    """An invalid configuration; the text follows ``nginx: [emerg] ``."""


class Directive(NamedTuple):
    """A directive with its arguments and its block, if any."""

    name: str
    words: tuple[str, ...]
    line: int
    block: tuple[Directive, ...] = ()

    def all(self, name: str) -> list[Directive]:
        """Return the directives of that name in its block."""
        return [each for each in self.block if each.name == name]

    def first(self, name: str) -> Directive | None:
        """Return the first of that name, if there is one."""
        return next(iter(self.all(name)), None)

    def text(self, name: str, missing: str) -> str:
        """Return the first word of the first of that name."""
        found = self.first(name)
        return found.words[0] if found is not None and found.words else missing


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def read_conf(text: str, path: str) -> Directive:
    """Return the whole configuration as a block; raises ``ConfError``."""
    reader = _Reader(text, path)
    block = reader.block("")
    return Directive("", (), 0, block)


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._at = 0
        self._line = 1

    def block(self, opened: str, depth: int = 0) -> tuple[Directive, ...]:
        """Directives up to the block's end, or the file's."""
        if depth > MAX_DEPTH:
            raise self._wrong("too deep nesting")
        found: list[Directive] = []
        words: list[_Token] = []
        for token in self._tokens():
            if token.kind != "mark":
                words.append(token)
            elif token.text == "}":
                if words or not opened:
                    raise self._wrong('unexpected "}"')
                return tuple(found)
            elif not words:
                raise self._wrong(f'unexpected "{token.text}"')
            else:
                found.append(self._directive(words, token.text, opened, depth))
                words = []
        if words or opened:
            wanted = '";" or "}"' if words else '"}"'
            raise self._wrong(f"unexpected end of file, expecting {wanted}")
        return tuple(found)

    def _directive(self, words: list[_Token], mark: str, inside: str, depth: int) -> Directive:
        name, rest = words[0].text, tuple(word.text for word in words[1:])
        if not (name in NAMES or LUA.match(name)):
            raise self._wrong(f'unknown directive "{name}"')
        allowed = BLOCKS.get(name) or ONLY_IN.get(name)
        if allowed is not None and inside not in allowed:
            raise self._wrong(f'"{name}" directive is not allowed here')
        is_member = name == "server" and inside == "upstream"
        has_block = (name in BLOCKS and not is_member) or name.endswith("_by_lua_block")
        if mark == "{" and not has_block:
            raise self._wrong(f'directive "{name}" is not terminated by ";"')
        if mark == ";" and has_block:
            raise self._wrong(f'directive "{name}" has no opening "{{"')
        self._check_arguments(name, rest, inside)
        if mark == ";":
            return Directive(name, rest, words[0].line)
        if name.endswith("_by_lua_block"):
            return Directive(name, (self._raw(),), words[0].line)
        if name in ("types", "map", "geo", "split_clients"):
            self._raw()
            return Directive(name, rest, words[0].line)
        return Directive(name, rest, words[0].line, self.block(name, depth + 1))

    def _check_arguments(self, name: str, words: tuple[str, ...], inside: str) -> None:
        least, most = (1, 1) if name in FLAGS else ARGUMENTS.get(name, (0, 1_000))
        if name == "server" and inside == "upstream":
            least, most = 1, 1_000
        elif name in ("listen", "server_name", "resolver", "error_log", "access_log"):
            least = 1
        if not least <= len(words) <= most:
            raise self._wrong(f'invalid number of arguments in "{name}" directive')
        if name in FLAGS and words[0].lower() not in ("on", "off"):
            raise self._wrong(f'invalid value "{words[0]}" in "{name}" directive, it must be "on" or "off"')
        if name == "listen":
            for word in words[1:]:
                if word not in LISTEN_WORDS and not word.startswith(LISTEN_SETTINGS):
                    raise self._wrong(f'invalid parameter "{word}"')

    def _tokens(self) -> Iterator[_Token]:
        while self._at < len(self._text):
            match = TOKEN.match(self._text, self._at)
            if match is None:
                raise self._wrong('unexpected end of file, expecting ";" or "}"')
            line = self._line
            self._line += match.group().count("\n")
            self._at = match.end()
            if match.lastgroup == "quoted":
                yield _Token("word", match.group()[1:-1], line)
            elif match.lastgroup is not None:
                yield _Token(match.lastgroup, match.group(), line)

    def _raw(self) -> str:
        """Return the text of a block of another language, up to the brace that ends it."""
        start, depth = self._at, 1
        while self._at < len(self._text):
            letter = self._text[self._at]
            self._at += 1
            self._line += letter == "\n"
            depth += (letter == "{") - (letter == "}")
            if not depth:
                return self._text[start : self._at - 1]
        raise self._wrong('unexpected end of file, expecting "}"')

    def _wrong(self, text: str) -> ConfError:
        return ConfError(f"{text} in {self._path}:{self._line}")

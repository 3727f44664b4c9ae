"""nginx's configuration, and what nginx says of one that it cannot read."""

from __future__ import annotations

import pytest

from simcloud.services.nginx.conf import ConfError, read_conf
from simcloud.services.nginx.server import size_of

PATH = "/etc/nginx/nginx.conf"
SITE = """
# a comment with a { brace
user nobody;
http {
  log_format main '$remote_addr {"$request"}';
  init_by_lua_block { local t = { 1, 2 } }
  server {
    listen 8080 reuseport;
    location /api { content_by_lua 'local client = require "api"; client.Run();'; }
    location / { root "pages"; }
  }
}
"""


def test_directives_are_found_where_they_stand() -> None:
    http = read_conf(SITE, PATH).first("http")
    assert http is not None
    server = http.first("server")
    assert server is not None
    assert (server.line, server.text("listen", "80"), server.text("server_name", "none")) == (
        7,
        "8080",
        "none",
    )
    api, rest = server.all("location")
    assert (api.words, rest.words) == (("/api",), ("/",))
    assert api.text("content_by_lua", "") == 'local client = require "api"; client.Run();'
    assert rest.text("root", "") == "pages"
    assert http.text("init_by_lua_block", "").strip() == "local t = { 1, 2 }"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http {\n  server {\n  }\n", 'unexpected end of file, expecting "}" in /etc/nginx/nginx.conf:4'),
        ("user nobody;\n}\n", 'unexpected "}" in /etc/nginx/nginx.conf:2'),
        ("user nobody", 'unexpected end of file, expecting ";" or "}" in /etc/nginx/nginx.conf:1'),
        ("http {\n  lisen 80;\n}\n", 'unknown directive "lisen" in /etc/nginx/nginx.conf:2'),
        (";", 'unexpected ";" in /etc/nginx/nginx.conf:1'),
        ("http { server {" + "location / {" * 50, "too deep nesting in /etc/nginx/nginx.conf:1"),
        ("http {\n  proxy_bogus on;\n}\n", 'unknown directive "proxy_bogus" in /etc/nginx/nginx.conf:2'),
        (
            "worker_processes auto\nevents { }\n",
            'directive "worker_processes" is not terminated by ";" in /etc/nginx/nginx.conf:2',
        ),
        (
            "http {\n server {\n  listen 8080\n  server_name localhost;\n }\n}\n",
            'invalid parameter "server_name" in /etc/nginx/nginx.conf:4',
        ),
        (
            "http {\n sendfile on\n tcp_nopush on;\n}\n",
            'invalid number of arguments in "sendfile" directive in /etc/nginx/nginx.conf:3',
        ),
        ("server { }", '"server" directive is not allowed here in /etc/nginx/nginx.conf:1'),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(ConfError) as failure:
        read_conf(text, PATH)
    assert str(failure.value) == told


def test_sizes() -> None:
    assert [size_of(text) for text in ("512", "8k", "2m", "1G", "many")] == [
        512,
        8192,
        2 << 20,
        1 << 30,
        1 << 20,
    ]

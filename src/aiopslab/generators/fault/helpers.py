"""The process names of the public AIOpsLab release, and the processes of the current cloud's nodes with these names."""

from __future__ import annotations

from typing import Final

from aiopslab.generators.site import OperationFailed, get_current_site

sn_svc_process_names: Final = [
    "ComposePostServ", "HomeTimelineSer", "MediaService", "PostStorageServ", "SocialGraphServ", "TextService", "UserService",
    "UrlShortenServi", "UserMentionServ", "UserTimelineSer", "UniqueIdService",
]  # fmt: skip
sn_mongod_process_names: Final = ["mongod"]
sn_redis_process_names: Final = ["redis-server"]
sn_memcached_process_names: Final = ["memcached"]
hr_svc_process_names: Final = [
    "geo", "frontend", "consul", "profile", "rate", "recommendation", "reservation", "search", "user",
]  # fmt: skip
hr_mongod_process_names: Final = ["mongod"]
hr_memcached_process_names: Final = ["memcached"]


def get_pids_by_name(search_term: str) -> list[int]:
    """Return the process IDs on all nodes whose command is the search term."""
    return [pid for pid, command in _list_processes() if command == search_term]


def get_pids_by_name_contain(search_term: str) -> list[int]:
    """Return the process IDs on all nodes whose command contains the search term."""
    return [pid for pid, command in _list_processes() if search_term in command]


def _list_processes() -> list[tuple[int, str]]:
    site = get_current_site("get_pids_by_name")
    found: list[tuple[int, str]] = []
    for node in site.list_nodes():
        try:
            lines = site.node_shell(node, "ps -e -o pid=,comm=").splitlines()
        except OperationFailed:
            continue  # a node that cannot be reached
        found += [(int(pid), command) for pid, command in (line.split(maxsplit=1) for line in lines)]
    return found

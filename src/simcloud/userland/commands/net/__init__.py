"""Commands on the network: curl, wget, nc, ping, dig, nslookup, ss, netstat, ip, tc, iptables, conntrack, ssh, openssl."""

from simcloud.exports import export_lazily
from simcloud.userland.commands.net import (
    curl as curl,
    ifconfig as ifconfig,
    interfaces as interfaces,
    names as names,
    netcat as netcat,
    openssl as openssl,
    packet_filter as packet_filter,
    ping as ping,
    sockets as sockets,
    ssh as ssh,
    tracking as tracking,
    traffic_control as traffic_control,
    wget as wget,
)

with export_lazily(globals()):
    from simcloud.userland.commands.net.exchange import (
        REDIRECTS as REDIRECTS,
        ExchangeFailed as ExchangeFailed,
        Failure as Failure,
        Url as Url,
        fetch as fetch,
    )
    from simcloud.userland.commands.net.interfaces import hardware_of as hardware_of
    from simcloud.userland.commands.net.netcat import (
        CONNECT_TIMEOUT_S as CONNECT_TIMEOUT_S,
        RAW as RAW,
        Relay as Relay,
        Settings as Settings,
    )
    from simcloud.userland.commands.net.packet_capture import tcpdump as tcpdump
    from simcloud.userland.commands.net.packet_filter.nft import nft as nft

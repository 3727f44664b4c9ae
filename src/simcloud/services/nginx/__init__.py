"""nginx: its configuration files and the server."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.services.nginx.conf import (
        ConfError as ConfError,
        Directive as Directive,
        read_conf as read_conf,
    )
    from simcloud.services.nginx.server import (
        SERVER as SERVER,
        Answer as Answer,
        Exchange as Exchange,
        NginxServer as NginxServer,
        error_page as error_page,
        listen as listen,
    )

"""What is done to the Service by which users come in."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.known import Known
from tests.incidents.lines import PUT_BACK, RUNNING, port, saved
from tests.incidents.needs import everyone_fails
from tests.incidents.scene import no_spans, shows


def breakages(known: Known) -> tuple[Breakage, ...]:
    """Those of an application."""
    door = known.app.front_door
    front = (door.service,)
    return (
        Breakage(
            "wrong target port of the front door",
            front,
            (port("{t}", "targetPort", door.port + 1),),
            (
                everyone_fails("refused"),
                RUNNING,
                shows(
                    "kubectl -n {ns} describe service {t}",
                    rf"^Endpoints: +10\.244\.\d+\.\d+:{door.port + 1}$",
                ),
                no_spans("{web}"),
            ),
            (port("{t}", "targetPort", door.port),),
        ),
        Breakage(
            "deleted Service of the front door",
            front,
            (saved("service", "{t}"), "kubectl -n {ns} delete service {t}"),
            (
                everyone_fails("refused"),
                shows("kubectl -n {ns} get service {t}", r'services "{t}" not found'),
                RUNNING,
                no_spans("{web}"),
            ),
            (PUT_BACK,),
        ),
        Breakage(
            "front door that selects nothing",
            front,
            ("kubectl -n {ns} set selector service {t} app={t}-web",),
            (
                everyone_fails("refused"),
                shows("kubectl -n {ns} describe service {t}", r"^Endpoints: +$"),
                RUNNING,
                no_spans("{web}"),
            ),
            ("kubectl -n {ns} set selector service {t} {label}={t}",),
        ),
        Breakage(
            "front door that selects a back end",
            known.services,
            ("kubectl -n {ns} set selector service {front} {label}={t}",),
            (
                everyone_fails("refused"),
                shows(
                    "kubectl -n {ns} describe service {front}",
                    rf"^Endpoints: +10\.244\.\d+\.\d+:{door.port}$",
                ),
                no_spans("{web}"),
            ),
            ("kubectl -n {ns} set selector service {front} {label}={front}",),
        ),
    )

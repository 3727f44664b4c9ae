"""Applications, one folder each: their base class, the registry of all of them, and a synthetic one for tests and benchmarks.

Other packages import from here. Modules are imported on first use, because a fault needs one application, not all.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.apps.base import (
        INGRESS as INGRESS,
        NODE_PORT as NODE_PORT,
        Application as Application,
        Component as Component,
        DatabaseUser as DatabaseUser,
        FrontDoor as FrontDoor,
        Journey as Journey,
        NoOtherNames as NoOtherNames,
        Objective as Objective,
        Role as Role,
    )
    from aiopslab.apps.names import ORIGINAL as ORIGINAL, Names as Names
    from aiopslab.apps.past import Past as Past
    from aiopslab.apps.registry import (
        NoSuchApplication as NoSuchApplication,
        application as application,
        find_application as find_application,
        load_applications as load_applications,
    )
    from aiopslab.apps.synthetic import (
        FIRST_PORT as FIRST_PORT,
        FRONT as FRONT,
        SyntheticApp as SyntheticApp,
        deploy as deploy,
    )

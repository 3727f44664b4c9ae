"""Generators of faults and of load, and the site that both act on."""

from aiopslab.generators.hardware import Defect as Defect
from aiopslab.generators.noise import (
    TEAMS as TEAMS,
    Change as Change,
    Level as Level,
    Noise as Noise,
    draw_noise as draw_noise,
)
from aiopslab.generators.site import (
    NoSite as NoSite,
    OperationFailed as OperationFailed,
    Site as Site,
    at_site as at_site,
    get_current_site as get_current_site,
    restart_unready_pods as restart_unready_pods,
)

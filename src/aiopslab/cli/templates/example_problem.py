"""The problems example_problem: a service of the hotel application is scaled to zero."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.problems import Family

FAMILY = Family(
    "example_problem",
    HotelReservation,  # or SocialNetwork, or your own application
    (ScalePodZero("geo"), ScalePodZero("search")),  # your own faults, or others of aiopslab.generators.fault
)
"""One problem for each task and each fault: example_problem-detection-1 to example_problem-incident-2."""

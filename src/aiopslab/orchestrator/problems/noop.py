"""No fault is injected: these problems catch agents that always answer "Yes"."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import DetectionTask

HOTELS = Family(
    "noop_detection_hotel_reservation",
    HotelReservation,
    ((),),
    tasks=(DetectionTask,),
    ids="{family}-{number}",
)
SOCIAL = Family(
    "noop_detection_social_network", SocialNetwork, ((),), tasks=(DetectionTask,), ids="{family}-{number}"
)

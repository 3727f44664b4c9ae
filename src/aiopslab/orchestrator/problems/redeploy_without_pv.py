"""The hotels are deployed anew beside the volumes that the old deployment has left."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.redeploy_without_pv import RedeployWithoutPV
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("redeploy_without_PV", HotelReservation, (RedeployWithoutPV(),))

"""The hotels are deployed anew beside the volumes that the old deployment has left."""

from aiopslab.generators.fault.redeploy_without_pv import RedeployWithoutPV
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family("redeploy_without_PV", HotelReservation, (RedeployWithoutPV(),))

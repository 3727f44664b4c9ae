"""The hotel application is redeployed while the volumes of the old deployment remain."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.redeploy_without_pv import RedeployWithoutPV
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("redeploy_without_PV", HotelReservation, (RedeployWithoutPV(),))

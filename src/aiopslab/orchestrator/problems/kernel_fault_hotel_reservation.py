"""The kernel under a service of the hotels cannot start containers any more."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.kernel_fault import KernelFault
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("kernel_fault_hotel_reservation", HotelReservation, (KernelFault("geo"),))

"""The kernel under a service of the hotels cannot start containers any more."""

from aiopslab.generators.fault.kernel_fault import KernelFault
from aiopslab.orchestrator.problems.family import Family
from aiopslab.service.apps.hotelres import HotelReservation

FAMILY = Family("kernel_fault_hotel_reservation", HotelReservation, (KernelFault("geo"),))

"""The kernel of a node of the hotel application can no longer start containers."""

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.kernel_fault import KernelFault
from aiopslab.orchestrator.problems.family import Family

FAMILY = Family("kernel_fault_hotel_reservation", HotelReservation, (KernelFault("geo"),))

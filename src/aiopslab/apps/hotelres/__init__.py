"""HotelReservation: the application, its services and its data."""

from aiopslab.apps.hotelres.application import HotelReservation as HotelReservation
from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.apps.hotelres.releases import BAD_GEO as BAD_GEO, RELEASE as RELEASE

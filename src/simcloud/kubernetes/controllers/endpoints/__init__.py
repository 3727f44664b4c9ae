"""Endpoints and EndpointSlices: the addresses behind Services."""

"""SocialNetwork: the application, its services and its data."""

from aiopslab.service.apps.socialnet.application import SocialNetwork

__all__ = ["SocialNetwork"]

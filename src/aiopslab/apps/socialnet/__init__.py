"""SocialNetwork: the application, its services and its data."""

from aiopslab.apps.socialnet.application import SocialNetwork

__all__ = ["SocialNetwork"]

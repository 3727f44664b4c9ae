"""SocialNetwork: the application, its services and its data."""

from aiopslab.apps.socialnet.application import SocialNetwork as SocialNetwork

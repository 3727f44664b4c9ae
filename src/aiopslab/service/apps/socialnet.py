"""``SocialNetwork`` under the module path of the public AIOpsLab release."""

from aiopslab.apps.socialnet import SocialNetwork

__all__ = ["SocialNetwork"]

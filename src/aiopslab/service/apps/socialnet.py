"""``SocialNetwork`` under the module path of the public AIOpsLab release."""

from __future__ import annotations

from aiopslab.apps import socialnet
from aiopslab.service.apps.deployable import Deployable


class SocialNetwork(socialnet.SocialNetwork, Deployable):
    """The social network, which scripts can deploy and delete."""

"""yq, Mike Farah's: jq's language on YAML, with our jq underneath.

Importing the package registers the command.
"""

from simcloud.userland.yq.command import yq

__all__ = ["yq"]

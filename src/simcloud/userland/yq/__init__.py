"""yq (Mike Farah's): jq's language on YAML, on top of our jq.

Importing the package registers the command.
"""

from simcloud.userland.yq.command import yq as yq

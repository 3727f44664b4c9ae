"""Authentication, authorization, and the reviews that explain both."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.api.access.reviews import Desk as Desk, review as review
    from simcloud.kubernetes.api.access.users import (
        AUTHENTICATED_GROUP as AUTHENTICATED_GROUP,
        CLUSTER_ADMINISTRATOR as CLUSTER_ADMINISTRATOR,
        SYSTEM_MASTERS as SYSTEM_MASTERS,
        User as User,
    )

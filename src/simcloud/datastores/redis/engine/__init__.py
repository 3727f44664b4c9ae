"""The data of Redis: values of five types in numbered databases, with expiry and memory accounting."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.datastores.redis.engine.values import (
        EncodedMembers as EncodedMembers,
        encode_member as encode_member,
    )

"""The data of Redis: values of five types in numbered databases, with expiry and memory accounting."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.datastores.redis.engine.database import Account as Account, Database as Database
    from simcloud.datastores.redis.engine.values import Limits as Limits, SortedValue as SortedValue

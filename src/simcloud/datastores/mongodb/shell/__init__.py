"""The MongoDB shells: ``mongo``, which comes with the server, and ``mongosh``."""

from simcloud.datastores.mongodb.shell.legacy import mongo as mongo
from simcloud.datastores.mongodb.shell.mongosh import mongosh as mongosh

"""MongoDB 4.4: a document engine, the server ``mongod``, its image, the shells, and client drivers."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.datastores.mongodb import image as image
    from simcloud.datastores.mongodb.bson import Binary as Binary, Document as Document, Int64 as Int64
    from simcloud.datastores.mongodb.driver import (
        Collection as Collection,
        MongoClient as MongoClient,
        MongoError as MongoError,
    )
    from simcloud.datastores.mongodb.encoding import Encoded as Encoded
    from simcloud.datastores.mongodb.image import mongo_image as mongo_image
    from simcloud.datastores.mongodb.libmongoc import MongocPool as MongocPool

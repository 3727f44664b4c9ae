"""MongoDB 4.4: a document engine, the server ``mongod``, its image, the shells, and client drivers."""

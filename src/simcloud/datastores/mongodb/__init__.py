"""MongoDB 4.4 in manner: a document engine, the server ``mongod``, its image, and drivers that speak to it."""

"""The document engine: collections, indexes, queries, updates, pipelines. Knows no network and no disk."""

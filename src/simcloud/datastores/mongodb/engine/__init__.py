"""The document engine: collections, indexes, queries, updates and pipelines, without network and disk."""

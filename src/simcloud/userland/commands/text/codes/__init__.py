"""Encodings and digests."""

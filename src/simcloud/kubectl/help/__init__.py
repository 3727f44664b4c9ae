"""Help pages and their texts."""

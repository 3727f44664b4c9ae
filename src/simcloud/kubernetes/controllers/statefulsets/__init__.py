"""StatefulSets: pods with stable names, ordinals and claims."""

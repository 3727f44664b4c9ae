"""What makes the pods of a StatefulSet individuals: their names and ordinals, and the claims that are theirs."""

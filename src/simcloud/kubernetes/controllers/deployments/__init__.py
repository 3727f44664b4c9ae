"""What the Deployment controller reckons with: its ReplicaSets, their sizes, and the status they add up to."""

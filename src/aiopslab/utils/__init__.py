"""What every room may use: the errors of the agent-cloud interface, under the names the public release gave them."""

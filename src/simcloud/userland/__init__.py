"""What is installed on a simulated machine: bash and the commands that operators type."""

"""The software of a simulated machine: bash and the commands that operators type."""

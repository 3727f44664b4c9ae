"""The software of simulated machines: bash and the commands of operators, and images that contain them."""

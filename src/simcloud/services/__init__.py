"""What services are written with: RPC, tracing, the behaviour of their languages, front doors, nginx, Jaeger."""

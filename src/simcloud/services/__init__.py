"""Building blocks of services: RPC, tracing, language runtimes, front doors, nginx, Jaeger."""

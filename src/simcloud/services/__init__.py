"""The programming model of services: RPC, tracing, front doors, nginx, Jaeger, and how programs of each language log."""

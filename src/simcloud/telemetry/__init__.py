"""Storage and queries of telemetry: metrics, rules, alerts, traces, logs.

The room is above the cluster, because it collects from it, and below the applications, which only emit.
"""

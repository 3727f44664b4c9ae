"""Telemetry: metrics with PromQL, rules and alerts, logs with LogQL, traces, and exports of all of them.

It is above the cluster, because it collects from it, and below the applications, which only emit.
"""

"""What software tells about itself, kept and asked for: metrics, rules, alerts, traces, logs.

The room stands above the cluster, because it collects from it, and below the applications, which only emit.
"""

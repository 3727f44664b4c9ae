"""Start and stop a real Kubernetes on this machine.

    python -m scripts.real_cluster up [--nodes N]
    python -m scripts.real_cluster images [--hotel FOLDER]
    python -m scripts.real_cluster status | check | down

``images`` adds those of the applications, ``check`` asks the API server about all manifests. docs/real-kubernetes.md has an example.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from scripts.real_cluster.applications import add_applications
from scripts.real_cluster.cluster import Cluster, describe
from scripts.real_cluster.manifests import check_manifests

FOLDER = Path("/var/lib/aiopslab")


def main() -> None:
    """Parse the command line and act on it."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.real_cluster", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("action", choices=("up", "images", "status", "check", "down"))
    parser.add_argument("--nodes", type=int, default=2, help="number of nodes (default: %(default)s)")
    parser.add_argument(
        "--dir", type=Path, default=FOLDER, help="folder of the cluster (default: %(default)s)"
    )
    parser.add_argument(
        "--hotel", type=Path, help="sources of HotelReservation, to make images of its services"
    )
    options = parser.parse_args()
    if os.geteuid():
        raise SystemExit("Namespaces and mounts need root; run this as root.")
    cluster = Cluster(options.dir)
    if options.action == "up":
        cluster.start(options.nodes)
        print(f"The cluster is ready. Use it with: export KUBECONFIG={cluster.kubeconfig}")
    elif options.action == "images":
        add_applications(cluster.folder, options.hotel)
    elif options.action == "check":
        complaints = check_manifests(cluster.make_command)
        print("\n".join(complaints) or "no error, no warning")
        raise SystemExit(bool(complaints))
    elif options.action == "down":
        cluster.stop()
    else:
        print(describe(cluster))


if __name__ == "__main__":
    main()

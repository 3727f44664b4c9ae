"""A real Kubernetes on this machine, for the measurements that the embedded cluster cannot give about itself.

``python -m scripts.real_cluster up`` builds the programs of Kubernetes from their public Go modules, takes the rest from Debian, and
runs kubeadm on nodes that are namespaces of this machine. docs/real-kubernetes.md says what it needs and what it cannot do.
"""

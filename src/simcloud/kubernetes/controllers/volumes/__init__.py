"""PersistentVolumes and their claims: binding, protection, provisioning."""

"""Authentication and authorization: SCRAM log-ins, users, roles and privileges."""

"""Who may do what: SCRAM log-ins, users, roles and privileges."""

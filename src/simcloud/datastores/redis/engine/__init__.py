"""Redis' data: values of five kinds in numbered databases, with expiry and an account of their memory."""

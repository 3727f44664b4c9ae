"""The data of Redis: values of five types in numbered databases, with expiry and memory accounting."""

"""The built-in kubectl: a command that a machine can have, one file per verb, over the API in process."""

"""The built-in kubectl: a program for machines, one file per verb, over the API in process."""

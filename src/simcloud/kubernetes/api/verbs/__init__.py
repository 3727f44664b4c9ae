"""The API's verbs: get, list, watch, create, update, patch, delete."""

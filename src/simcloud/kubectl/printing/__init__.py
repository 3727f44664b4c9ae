"""The forms in which kubectl prints objects, as functions of the objects."""

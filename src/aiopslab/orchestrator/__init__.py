"""Problems and their judges."""

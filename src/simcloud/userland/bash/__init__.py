"""bash: parser, expansion, interpreter and builtins, on the simulated machine."""

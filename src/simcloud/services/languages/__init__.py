"""How programs of each language talk: their log lines, their words for errors, their ways to die."""

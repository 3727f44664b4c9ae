"""Inside lines: characters, fields, columns, widths."""

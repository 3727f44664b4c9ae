"""Tools on parts of lines: characters, fields, columns, widths."""

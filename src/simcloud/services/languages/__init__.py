"""Language runtimes: log lines, error messages, and how a program crashes."""

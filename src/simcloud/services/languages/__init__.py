"""Language runtimes: log lines, error messages, and how a program crashes."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.services.languages import golang as golang
    from simcloud.services.languages.cpp import BoostLog as BoostLog, format_boost as format_boost
    from simcloud.services.languages.golang import GoLog as GoLog, go_program as go_program
    from simcloud.services.languages.output import print_line as print_line

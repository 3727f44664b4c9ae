"""How Go formats, parses, quotes and compares values, for simulated programs that are written in Go."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.golang.durations import (
        format_duration as format_duration,
        parse_duration_ns as parse_duration_ns,
        parse_duration_s as parse_duration_s,
    )
    from simcloud.golang.formatting import (
        Int as Int,
        sprint as sprint,
        syntax as syntax,
        type_name as type_name,
    )
    from simcloud.golang.json_text import format_json as format_json
    from simcloud.golang.numbers import (
        fewest_digits as fewest_digits,
        float_text as float_text,
        is_int64 as is_int64,
        json_float as json_float,
    )
    from simcloud.golang.quoting import quote as quote, unquote as unquote
    from simcloud.golang.regexps import BadRegex as BadRegex, compile_regexp as compile_regexp
    from simcloud.golang.sorting import go_sorted as go_sorted
    from simcloud.golang.tabwriter import TabWriter as TabWriter

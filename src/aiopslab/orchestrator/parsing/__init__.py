"""The parts of the response parser.

`literals` parses one value, `calls` the arguments of one call, `repairs` a call with broken quotes, `tool_calls` the JSON
that some models write instead of a call; `places` says where in a response a call may stand, and `search` finds all calls.
`aiopslab.orchestrator.parser` combines them.
"""

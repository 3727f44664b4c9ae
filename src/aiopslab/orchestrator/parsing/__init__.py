"""How a call is read out of what a model wrote.

`literals` reads one value, `calls` the arguments of one call, `repairs` a call with quotes gone wrong, `tool_calls`
the JSON that some models write instead of a call, and `places` says where in a response a call may stand.
`aiopslab.orchestrator.parser` puts them together.
"""

"""How looks reach a host and answers come back, without a file of ours on the host.

`requests` says what to ask, `program` makes the text for the interpreter's
standard input, `answer` reads what came back.
"""

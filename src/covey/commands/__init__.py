"""What the commands do, each in a file of its own; `covey.cli` only parses. Needs the extra `cli`."""

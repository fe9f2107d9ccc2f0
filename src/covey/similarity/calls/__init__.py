"""How a custom function is called: by whom, in which process, for how long, and what happens if it fails."""

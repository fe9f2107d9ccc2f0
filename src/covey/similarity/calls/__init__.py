"""How a custom function is called: in which way (callers.py), in which process (pool.py), for how long (timeouts.py),
what happens if it fails (failures.py), and whether it is what it promises to be (spot_check.py)."""

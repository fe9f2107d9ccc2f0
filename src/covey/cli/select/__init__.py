"""`covey select`: the few rows that stand for the many."""

"""`covey select`: options, rules, load, fit, write."""

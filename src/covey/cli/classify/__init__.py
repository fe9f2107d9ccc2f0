"""`covey classify`: answers, and their scores if the right labels are known."""

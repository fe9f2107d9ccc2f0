"""`covey compare`: methods side by side on a user's data, and advice which one to take."""

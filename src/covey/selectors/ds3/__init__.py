"""DS3 (Elhamifar, Sapiro and Sastry): representatives by a convex program."""

"""covey among the libraries that people use it with: one file for each of them, or for each thing that is done."""

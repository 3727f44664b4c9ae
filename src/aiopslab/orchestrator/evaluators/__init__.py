"""What the authors of problems compare answers with, by the names of the papers and the public release."""

"""What is released: the two archives, and what a person gets who installs them."""

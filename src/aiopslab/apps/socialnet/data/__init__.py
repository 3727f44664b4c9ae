"""The people of the network, what they have written, and the images that have it in them."""

"""The initial users and posts of the network, and the database images that contain them."""

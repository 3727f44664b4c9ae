"""What stands in front: nginx with Lua inside, for the application and for its pictures."""

"""The web servers: nginx with Lua, for the application and for its pictures."""

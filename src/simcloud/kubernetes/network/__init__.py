"""What joins pods: their addresses, Services, names, policies and the way in from outside."""

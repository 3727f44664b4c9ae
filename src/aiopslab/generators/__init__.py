"""What puts strain on an application: users and, later, faults."""

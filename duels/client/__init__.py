"""The client side of the server protocol, for terminals and bots."""

"""One module a family. Each declares what the family writes and registers it on import."""

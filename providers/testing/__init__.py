"""A kit of checks that any adapter of a remote service can run against its own server, or against a fake of it."""

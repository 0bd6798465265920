"""The assets, a module a stage; each is a factory over the project's settings."""

"""Servers on loopback that behave as the services' contracts say, and watch what they are told."""

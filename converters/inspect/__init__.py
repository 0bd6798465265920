"""What a source holds: its variant, counts, and what is odd about it."""

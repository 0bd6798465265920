"""Bytes in a known format to corpus tables, and corpus tables to bytes in another. No Dagster, no network."""

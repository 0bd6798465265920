"""What scores: retrieval metrics and their aggregates. No Dagster."""

"""Memory systems behind one small protocol. No Dagster."""

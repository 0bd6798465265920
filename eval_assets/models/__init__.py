"""Language models: what they are, what they cost, and how they are asked."""

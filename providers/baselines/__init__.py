"""Systems that are no memory: what others are measured against. Nothing here ranks anything."""

"""Remote systems: a service, the ledger, and the loops that fill containers and ask questions."""

"""The ledger: every call to a remote service, and what became of every document that was sent to one."""

"""Damaged inputs for every reader: see ``law`` for what must hold, and ``__main__`` for how one input is run again."""

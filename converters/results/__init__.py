"""Results that other tools wrote: rankings and answers."""

"""Programs that look after themselves: checks of debug mode, and of who made a NaN."""

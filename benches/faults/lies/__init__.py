"""A `memo` that lies, put before the real one: each lie of the table must be found out."""

"""A `memo` that lies, put before the real one: each lie of the table must be found out."""


def run(options):
    """Tries the lies that are named, or all; returns the exit status."""
    from lies import trial  # the shim has no use for it, and starts at each question

    return trial.run(options)

"""What may go wrong on a cluster and nowhere else."""


class WorkerLostError(RuntimeError):
    """Raised where a worker of a fit is gone, and the fit may or can not begin anew without it."""

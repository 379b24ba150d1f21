"""Reports: one page on a model for people who do not code. `page` fills the skeleton, the others fill its sections."""

from sublearn.reporting.making import Report, report

__all__ = ["Report", "report"]

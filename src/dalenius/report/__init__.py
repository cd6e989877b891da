"""Pictures and tables of results, and the page that reports them."""

from dalenius.report.curves import (
    band_table,
    curve_picture,
    curve_table,
    frontier_picture,
    frontier_table,
    noise_picture,
    noise_table,
)
from dalenius.report.implications import implications_picture
from dalenius.report.page import report_page, write_report
from dalenius.report.picture import save_picture
from dalenius.report.progress import (
    comparison_picture,
    comparison_table,
    sanitizer_picture,
    sanitizer_table,
    trace_picture,
    trace_table,
)
from dalenius.report.release import mechanism_picture, prior_picture

__all__ = [
    "band_table",
    "comparison_picture",
    "comparison_table",
    "curve_picture",
    "curve_table",
    "frontier_picture",
    "frontier_table",
    "implications_picture",
    "mechanism_picture",
    "noise_picture",
    "noise_table",
    "prior_picture",
    "report_page",
    "sanitizer_picture",
    "sanitizer_table",
    "save_picture",
    "trace_picture",
    "trace_table",
    "write_report",
]

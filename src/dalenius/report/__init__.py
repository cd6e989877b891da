"""Pictures and tables of results, and the page that reports them."""

from dalenius.report.comparison import comparison_picture, comparison_table
from dalenius.report.curve import band_table, curve_picture, curve_table
from dalenius.report.frontier import frontier_picture, frontier_table
from dalenius.report.heatmap import mechanism_picture
from dalenius.report.implications import implications_picture
from dalenius.report.noise import noise_picture, noise_table
from dalenius.report.page import report_page, write_report
from dalenius.report.picture import save_picture
from dalenius.report.prior import prior_picture
from dalenius.report.sanitizers import sanitizer_picture, sanitizer_table
from dalenius.report.trace import trace_picture, trace_table

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

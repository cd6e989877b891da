"""Pictures and tables of results."""

from dalenius.report.comparison import comparison_picture, comparison_table
from dalenius.report.curve import band_table, curve_picture, curve_table
from dalenius.report.frontier import frontier_picture, frontier_table
from dalenius.report.trace import trace_picture, trace_table

__all__ = [
    "band_table",
    "comparison_picture",
    "comparison_table",
    "curve_picture",
    "curve_table",
    "frontier_picture",
    "frontier_table",
    "trace_picture",
    "trace_table",
]

"""Pictures and tables of results."""

from dalenius.report.curve import curve_picture, curve_table
from dalenius.report.trace import trace_picture, trace_table

__all__ = ["curve_picture", "curve_table", "trace_picture", "trace_table"]

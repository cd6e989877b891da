"""Pictures and tables of results."""

from dalenius.report.curve import curve_picture, curve_table

__all__ = ["curve_picture", "curve_table"]

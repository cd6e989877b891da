"""The page that reports certificates: self-contained HTML, whose every number is read off a proof that was checked again."""

from dalenius.report.page.door import report_page, write_report

__all__ = ["report_page", "write_report"]

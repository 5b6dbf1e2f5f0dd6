"""Judging sheets: one HTML file with the application's own screens, for an assessor without the server.

the evaluation --content--> what the file holds, and its key --page--> the file
                  the application's scripts --bundle--> one script
"""

from __future__ import annotations

from qassay.web.sheet.content import Content, Wanted, make_content
from qassay.web.sheet.page import write_page

__all__ = ["Content", "Wanted", "make_content", "write_page"]

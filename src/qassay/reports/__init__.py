"""Reports: result records -> one document: HTML, Markdown, LaTeX, or tables as CSV.

document       the report as data: the results it is made from, and what it says
answers        the answer first: who is ahead, which differences hold, how sure, what would settle the rest
sections       figures and tables in the order of people's questions
methods        what was done, in words
page, style    HTML in one file
markdown       Markdown
latex          tables in the form of the TREC overviews
organisations  one result page per organisation
"""

from __future__ import annotations

from qassay.reports.document import Fact, Material, Report
from qassay.reports.sections import build_report

__all__ = ["Fact", "Material", "Report", "build_report"]

"""Reports: result records -> one document: HTML, Markdown, LaTeX, or tables as CSV.

material       the results that a report is made from
answers        the answer first: who is ahead, which differences hold, how sure, what would settle the rest
sections       figures and tables in the order of people's questions
methods        what was done, in words
document       the report as data
page, style    HTML in one file
markdown       Markdown
latex          tables in the form of the TREC overviews
organisations  one result page per organisation
"""

from __future__ import annotations

from qassay.reports.document import Exhibit, Fact, Report, Section
from qassay.reports.material import Material
from qassay.reports.sections import build_report

__all__ = ["Exhibit", "Fact", "Material", "Report", "Section", "build_report"]

"""The look of a report: one typeface, one width, quiet surfaces; light, dark, print, and 360 pixels."""

from __future__ import annotations

from qassay.figures.figure import DARK, LIGHT

_COLOURS = "".join(f"--{name}:light-dark({LIGHT[name]},{DARK[name]});" for name in LIGHT)

STYLE = (
    ":root{color-scheme:light dark;" + _COLOURS + "--paper:light-dark(#f6f8fa,#0f151b);"
    "--right:light-dark(#1a7f4b,#4cc38a)}"
    """
*{box-sizing:border-box}
html{font:16px/1.55 Inter,"Source Sans 3",system-ui,"Segoe UI","Liberation Sans",Arial,sans-serif;
font-variant-numeric:tabular-nums}
body{margin:0;background:var(--paper);color:var(--ink)}
header{padding:.75rem 2rem;background:var(--card);border-bottom:1px solid var(--line);font-weight:650}
.mark{display:inline-block;width:1.1rem;height:1.1rem;border-radius:.3rem;margin-right:.6rem;vertical-align:-.15rem;
background:linear-gradient(135deg,var(--accent),var(--right))}
main{max-width:76rem;margin:0 auto;padding:1.5rem 2rem 5rem}
h1{font-size:1.5rem;line-height:1.3;font-weight:620;letter-spacing:-.015em;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;line-height:1.3;font-weight:620;letter-spacing:-.01em;margin:3rem 0 .5rem}
h3{font-size:1rem;font-weight:600;margin:0 0 .5rem;overflow-wrap:anywhere}
p{max-width:46rem;margin:.5rem 0;overflow-wrap:anywhere}
.soft,figcaption,.note{color:var(--soft);font-size:.875rem}
.lead{font-size:1.25rem;line-height:1.45;letter-spacing:-.01em;margin:1.25rem 0 .5rem;font-weight:640}
.contents{display:flex;flex-wrap:wrap;gap:.25rem;margin:1rem 0 0;border-bottom:1px solid var(--line);padding:0}
.contents a{padding:.5rem .9rem;color:var(--soft);text-decoration:none;font-size:.9375rem}
a{color:var(--accent)}
.contents a:hover,.contents a:focus-visible{color:var(--ink);text-decoration:underline}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem;margin:1.25rem 0;padding:0}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.25rem 1.5rem;margin:1rem 0}
.facts .card{padding:.9rem 1.1rem;margin:0;display:flex;flex-direction:column}
.facts dt{color:var(--soft);font-size:.875rem}
.facts dd{margin:0}
.facts dd.value{font-size:1.5rem;letter-spacing:-.02em;font-weight:620}
figure{margin:0}
.wide{overflow-x:auto}
figure .wide{margin-inline:-1rem;padding-inline:1rem}
.wide:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
figure svg{display:block;max-width:100%;height:auto}
figcaption,summary,.note,li,dd{overflow-wrap:anywhere}
figcaption{margin-top:.5rem;max-width:46rem}
table{border-collapse:collapse;font-size:.9375rem;width:100%}
caption{text-align:left;font-weight:600;padding-bottom:.5rem;overflow-wrap:anywhere}
th{text-align:right;font-weight:550;color:var(--soft);font-size:.8125rem;vertical-align:bottom}
th,td{padding:.45rem .75rem;border-bottom:1px solid var(--line)}
td{text-align:right;vertical-align:top}
th.text,td.text{text-align:start;max-width:26rem;overflow-wrap:break-word;word-break:break-word;min-width:4rem}
td.short{white-space:nowrap}
tbody th{color:var(--ink);font-size:.9375rem}
.note{margin:.5rem 0 0}
details{margin-top:.75rem}
.card>details:first-child{margin:0}
summary{cursor:pointer;color:var(--accent);font-size:.875rem}
ul{padding-left:1.25rem;max-width:46rem}
li{margin:.4rem 0;overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;margin:.25rem 0 1rem;
overflow-x:auto;font:.875rem/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
@media (max-width:40rem){main{padding:1rem 1rem 3rem}header{padding:.75rem 1rem}.card{padding:1rem;border-radius:.6rem}
figure svg{max-width:29rem}.lead{font-size:1.125rem}th,td{padding:.4rem .5rem}
.facts{grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem}}
@media print{:root{color-scheme:light}html{font-size:11pt}body{background:none}header,.contents,.download{display:none}
main{max-width:none;padding:0}.card{border:0;padding:0;border-radius:0}.facts .card{border:1px solid var(--line);
padding:.5rem .75rem;border-radius:.4rem}figure,.facts,tr{break-inside:avoid}h2,h3,caption{break-after:avoid}
table,tbody th{font-size:.75rem}th{font-size:.7rem}th,td{padding:.25rem .4rem}.wide{overflow:visible}
details:not([open]){display:none}pre{white-space:pre-wrap}a{color:inherit;text-decoration:none}}
"""
)

"""The page of the bench of the ops: each case beside its peers and the limit of the machine."""

import html

STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
th { position: sticky; top: 0; background: Canvas; }
.slow { color: #b00020; }
:root { color-scheme: light dark; }
"""
FILTER = """
const rows = [...document.querySelectorAll("tbody tr")];
document.querySelector("input").oninput = event => {
  for (const row of rows) row.hidden = !row.cells[0].textContent.includes(event.target.value);
};
"""


def cell(text, slow=False):
    return f'<td class="slow">{text}</td>' if slow else f"<td>{text}</td>"


def microseconds(nanoseconds):
    return f"{nanoseconds / 1e3:.4g}"


def row(name, figures, peers):
    ours, theirs = figures["tenon_ns"], figures["peers_ns"]
    cells = [cell(html.escape(name)), cell(microseconds(ours))]
    for peer in peers:
        if peer not in theirs:
            cells += [cell(""), cell("")]
            continue
        ratio = theirs[peer] / ours
        cells += [cell(microseconds(theirs[peer])), cell(f"{ratio:.2f}", ratio < 0.7)]
    if figures["limit_ns"]:
        cells += [cell(microseconds(figures["limit_ns"])), cell(f"{figures['distance']:.1f}", figures["distance"] > 4)]
    else:
        cells += [cell(""), cell("")]
    return f"<tr>{''.join(cells)}</tr>"


def worst(figures):
    """Returns the key by which rows are sorted: the smallest ratio, then the distance from the limit."""
    ratios = [time / figures["tenon_ns"] for time in figures["peers_ns"].values()]
    return min(ratios, default=float("inf")), -(figures["distance"] or 0)


def page(figures):
    peers = [name for name in figures["versions"] if name != "tenon"]
    head = ["case", "Tenon, us", *(title for peer in peers for title in (f"{peer}, us", "ratio")), "limit, us",
            "times the limit"]
    rates = [f"copying {size}: {rate:.1f} GB/s" for size, rate in figures["bandwidth_gb_per_s"].items()]
    rates += [f"matrix products {dtype}: {rate:.0f} GFLOP/s" for dtype, rate in figures["peak_gflop_per_s"].items()]
    versions = ", ".join(f"{name} {version}" for name, version in figures["versions"].items())
    rows = "\n".join(row(name, case, peers)
                     for name, case in sorted(figures["cases"].items(), key=lambda item: worst(item[1])))
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tenon's ops on the CPU</title><style>{STYLE}</style>
<h1>Tenon's ops on the CPU</h1>
<p>Each time is the median of calls on one thread. A ratio is the time of the peer divided by that of Tenon; below 1,
the peer is faster. The limit is the time in which this machine moves the bytes of the case, or does its
multiplications and additions. Rates measured in this run: {"; ".join(rates)}.</p>
<p>{html.escape(versions)}. No peer has: {html.escape(", ".join(figures["no_peer"]) or "none of the others")}.</p>
<p><label>Show cases that contain <input></label></p>
<table><thead><tr>{"".join(f"<th>{html.escape(title)}</th>" for title in head)}</tr></thead><tbody>
{rows}
</tbody></table><script>{FILTER}</script></html>
"""

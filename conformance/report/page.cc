// Writes the HTML report: which ops pass in which dtypes, how large the errors are, and how to
// reproduce every fault. It is one file that needs no network, with a light and a dark theme.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "conformance/device/device_check.h"
#include "conformance/functions/function_check.h"
#include "conformance/kit/dtypes.h"
#include "conformance/report/curve_svg.h"
#include "conformance/report/report.h"
#include "conformance/report/report_text.h"

namespace tenon_kit {
namespace {

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--ink:#1b1d20;--paper:#fbfbf9;--card:#fff;--line:#dcdcd7;--soft:#5c6168;
--pass:#2f7d57;--passbg:#cfe8d9;--fail:#b3261e;--failbg:#f6c9c4;--warn:#8a5a00;--warnbg:#f6e0ad;
--none:#efefeb;--bar:#3b6fb5}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e4;--paper:#15171a;--card:#1c1f23;--line:#353a40;
--soft:#a2a8af;--pass:#7fd3a6;--passbg:#1f4a35;--fail:#ff8a7d;--failbg:#5e201b;--warn:#f0c05a;
--warnbg:#53400f;--none:#202327;--bar:#7eb0ef}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;
margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;line-height:1.2;margin:0}h2{font-size:1.15rem;margin:2.5rem 0 .5rem}
p{margin:.3rem 0;max-width:46rem}.soft{color:var(--soft)}.bad{color:var(--fail)}
.verdict{display:inline-block;padding:.15rem .7rem;border-radius:1rem;font-weight:600;margin:.6rem 0}
.verdict.p,.map .p{background:var(--passbg);color:var(--pass)}
.verdict.f,.map .f{background:var(--failbg);color:var(--fail)}
.map .w{background:var(--warnbg);color:var(--warn)}.map .n{background:var(--none);color:var(--soft)}
.sum{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.75rem;margin:1rem 0}
.sum div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.5rem .75rem;
font-size:1.35rem;font-variant-numeric:tabular-nums}
.sum small{display:block;font-size:13px;color:var(--soft)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:13px}
td,th{padding:3px 10px 3px 0;text-align:left;font-weight:normal;vertical-align:top}
thead th{color:var(--soft);border-bottom:1px solid var(--line)}
td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}
.map{border-collapse:separate;border-spacing:2px}
.map td{min-width:2.1rem;height:1.3rem;padding:0;text-align:center;line-height:1.3rem;border-radius:3px}
.map th[scope=row]{min-width:7.5rem;max-width:11rem;overflow-wrap:anywhere;line-height:1.2}
.map thead th{text-align:center;padding:0;border:0}
.map th[scope=row]{position:sticky;left:0;background:var(--paper);padding:0 .5rem 0 0;z-index:1}
.key span{display:inline-block;min-width:1.6rem;text-align:center;border-radius:3px;margin:0 .3rem 0 .8rem}
.faults{list-style:none;padding:0}.faults li{background:var(--card);border:1px solid var(--line);
border-left:4px solid var(--fail);border-radius:6px;padding:.5rem .75rem;margin:.5rem 0}
.known li{border-left-color:var(--warn)}
code{font:12px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}
pre{margin:.3rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--none);
padding:.4rem .6rem;border-radius:4px;user-select:all}
.curves{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:.75rem}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.5rem .6rem}
figcaption{font-size:13px;line-height:1.35}svg{width:100%;height:auto;display:block}
svg text{font:9px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--line);stroke-width:.6}.bar{stroke:var(--bar)}
.over{stroke:var(--fail);stroke-width:2.2}.bound{stroke:var(--ink);stroke-width:1;fill:none}
details{margin:.5rem 0}summary{cursor:pointer;padding:.3rem 0}
.error{display:block;height:9px;background:var(--bar);border-radius:2px;min-width:2px}
.errors td:last-child{width:100%;min-width:6rem;vertical-align:middle}
)css";

// How a cell of the map looks: its CSS class, sign and description.
struct Mark {
  char kind;
  const char* sign;
  const char* words;
};
constexpr Mark kMarks[] = {{'p', "✓", "passed"},
                           {'f', "✗", "has a fault"},
                           {'w', "!", "passed, with known faults or unclaimed"},
                           {'n', "·", "nothing was run"}};

// Whether the row tests a claim. Checks that also run for unclaimed signatures do not show that a
// claim holds.
bool tests_a_claim(const Row& row) {
  const Check* check = find_check(row.check);
  return !check || !check->of_unclaimed;
}

// Returns the look of a map cell whose op and dtype have these rows.
const Mark& mark(const std::vector<const Row*>& rows) {
  if (rows.empty()) return kMarks[3];
  bool warned = false, passed = false;
  for (const Row* row : rows) {
    if (is_fault(row->status)) return kMarks[1];
    warned = warned || row->status == Status::kExpectedFail ||
             (row->status == Status::kUnsupported && row->cases > 0);
    passed = passed || (row->status == Status::kPass && tests_a_claim(*row));
  }
  return warned ? kMarks[2] : passed ? kMarks[0] : kMarks[3];
}

// Returns the ops of the registry that occur in the rows, in registry order.
std::vector<std::string> ops_of(const std::vector<Row>& rows) {
  std::vector<std::string> ops;
  for (const OpFacts& op : all_ops()) {
    const bool met =
        std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.op == op.name; });
    if (met) ops.push_back(op.name);
  }
  return ops;
}

// Returns the dtype in whose column a claim is shown: the first dtype in the claim's text.
std::string first_dtype(const std::string& dtypes) {
  return dtypes.substr(0, dtypes.find_first_of(",-"));
}

// Returns an HTML table of ops by dtypes that shows which of them pass.
std::string heat_map(const std::vector<Row>& rows) {
  std::string html = "<p class=\"soft key\">Each cell is an op in a dtype:";
  for (const Mark& m : kMarks) {
    html += fmt::format("<span class=\"map\"><span class={}>{}</span></span>{}", m.kind, m.sign,
                        m.words);
  }
  html += "</p><div class=scroll><table class=map><thead><tr><td>";
  for (const DTypeFacts& d : all_dtypes()) html += fmt::format("<th scope=col>{}", d.name);
  html += "</thead>";
  for (const std::string& op : ops_of(rows)) {
    html += fmt::format("<tr><th scope=row>{}", op);
    for (const DTypeFacts& d : all_dtypes()) {
      std::vector<const Row*> cell;
      uint64_t cases = 0;
      double ulp = 0;
      for (const Row& row : rows) {
        if (row.op != op || first_dtype(row.dtypes) != d.name) continue;
        cell.push_back(&row);
        cases += row.cases;
        if (row.level <= 3) ulp = std::max(ulp, row.ulp);
      }
      const Mark& m = mark(cell);
      const std::string error = ulp > 0 ? fmt::format(", at most {:.3g} ulp", ulp) : "";
      html += fmt::format("<td class={} title=\"{} {} {}: {} properties, {} cases{}\">{}", m.kind,
                          op, d.name, m.words, cell.size(), cases, error, m.sign);
    }
  }
  return html + "</table></div>";
}

// Returns an HTML table of the largest error of each passing claim, as bars in descending order.
std::string error_bars(const std::vector<Row>& rows) {
  struct Worst {
    std::string name;
    double ulp;
  };
  std::vector<Worst> worst;
  for (const Row& row : rows) {
    if (row.ulp == 0 || row.level > 3 || row.status != Status::kPass) continue;
    const std::string name = row.op + " " + row.dtypes;
    const auto found =
        std::find_if(worst.begin(), worst.end(), [&](const Worst& w) { return w.name == name; });
    if (found == worst.end())
      worst.push_back({name, row.ulp});
    else
      found->ulp = std::max(found->ulp, row.ulp);
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [](const Worst& a, const Worst& b) { return a.ulp > b.ulp; });
  if (worst.empty()) return "<p>Every result was exact.</p>";
  const double longest = std::log2(1 + worst.front().ulp);
  const auto table = [&](size_t from, size_t to) {
    std::string html = "<table class=errors><thead><tr><th>op<th class=r>ulp<th></thead>";
    for (const Worst& w : std::span(worst).subspan(from, to - from)) {
      html += fmt::format(
          "<tr><td>{}<td class=r>{:.3g}<td><span class=error style=\"width:{:.1f}%\"></span>",
          escape_xml(w.name), w.ulp, 100 * std::log2(1 + w.ulp) / longest);
    }
    return html + "</table>";
  };
  const size_t shown = std::min<size_t>(worst.size(), 30);
  std::string html = table(0, shown);
  if (shown < worst.size()) {
    html += fmt::format("<details><summary>{} more</summary>{}</details>", worst.size() - shown,
                        table(shown, worst.size()));
  }
  return html;
}

// Returns HTML with the error curves of all functions in a collapsible group for each dtype. The
// group of float32 is open.
std::string curves(const std::vector<Row>& rows) {
  std::string html;
  for (const DTypeFacts& d : all_dtypes()) {
    std::map<std::string, std::string> figures;  // Keyed by op.
    for (const Row& row : rows) {
      if (!row.curve.empty() && row.dtypes == d.name) figures[row.op] += curve_figure(row);
    }
    if (figures.empty()) continue;
    std::string joined;
    for (const auto& [op, figure] : figures) joined += figure;
    html += fmt::format(
        "<details{}><summary>{}: {} functions</summary><div class=curves>{}</div></details>",
        d.code == TENON_FLOAT32 ? " open" : "", d.name, figures.size(), joined);
  }
  return html;
}

// Lists the rows for which `wanted` returns true, each with the command that reproduces it. `kind`
// is a CSS class of the list.
template <class Wanted>
std::string list_of(const Heading& heading, const std::vector<Row>& rows, const char* kind,
                    const Wanted& wanted) {
  std::string html;
  for (const Row& row : rows) {
    if (!wanted(row)) continue;
    html += fmt::format("<li><b class=bad>{}</b> {} · <b>{}</b> {}<br>{}", name_of(row.status),
                        row.check, row.op, escape_xml(row.dtypes), escape_xml(row.message));
    if (row.line.empty()) continue;
    html +=
        fmt::format("<pre><code>tenon-conformance --plugin {} --check {} --case '{}'</code></pre>",
                    escape_xml(heading.plugin), row.check, escape_xml(row.line));
  }
  return html.empty() ? "" : fmt::format("<ul class=\"faults {}\">{}</ul>", kind, html);
}

// Returns HTML that lists the rows with faults, then the rows with known faults.
std::string faults(const Heading& heading, const std::vector<Row>& rows) {
  const std::string own =
      list_of(heading, rows, "", [](const Row& row) { return is_fault(row.status); });
  const std::string known = list_of(
      heading, rows, "known", [](const Row& row) { return row.status == Status::kExpectedFail; });
  return (own.empty() ? "<p>None.</p>" : own) +
         (known.empty() ? "" : "<h2>Known faults</h2>" + known);
}

// Returns HTML that lists the unclaimed signatures, grouped by the reason in the row's message.
std::string unclaimed(const std::vector<Row>& rows) {
  std::map<std::string, std::map<std::string, std::string>> by_reason;
  size_t n = 0;
  for (const Row& row : rows) {
    if (row.status != Status::kUnsupported) continue;
    std::string& dtypes = by_reason[row.message][row.op];
    dtypes += (dtypes.empty() ? "" : " ") + row.dtypes;
    ++n;
  }
  if (n == 0) return "";
  std::string html =
      fmt::format("<h2>Not claimed</h2><details><summary>{} ops by dtype</summary>", n);
  for (const auto& [reason, ops] : by_reason) {
    html += fmt::format("<p>{}:</p><table>", escape_xml(reason));
    for (const auto& [op, dtypes] : ops) {
      html += fmt::format("<tr><td>{}<td class=soft>{}", op, escape_xml(dtypes));
    }
    html += "</table>";
  }
  return html + "</details>";
}

// Returns an HTML table of the checks, with the number of cells that ran and that passed.
std::string properties(const std::vector<Row>& rows) {
  std::string html =
      "<div class=scroll><table><thead><tr><th>property<th class=r>level<th class=r>cells<th "
      "class=r>passed<th class=r>cases<th>description</thead>";
  for (const Check& check : all_checks()) {
    size_t cells = 0, passed = 0;
    uint64_t cases = 0;
    for (const Row& row : rows) {
      if (row.check != check.name) continue;
      ++cells;
      passed += row.status == Status::kPass;
      cases += row.cases;
    }
    if (cells == 0) continue;
    html += fmt::format(
        "<tr><td>{}<td class=r>{}<td class=r>{}<td class=r>{}<td class=r>{}<td class=soft>{}",
        check.name, check.level, cells, passed, cases, escape_xml(check.what));
  }
  return html + "</table></div>";
}

}  // namespace

std::string html_page(const Heading& heading, const std::vector<Row>& rows) {
  const auto n = [&](auto&& predicate) {
    return std::count_if(rows.begin(), rows.end(), predicate);
  };
  const auto n_faults = n([](const Row& row) { return is_fault(row.status); });
  uint64_t cases = 0;
  for (const Row& row : rows) cases += row.cases;
  std::string notes;
  for (const std::string& note : heading.notes) {
    notes += "<p class=soft>" + escape_xml(note) + "</p>";
  }
  const bool passed = n_faults == 0 && !rows.empty();
  const std::string verdict = passed         ? "✓ passed"
                              : rows.empty() ? "✗ nothing was run"
                                             : fmt::format("✗ {} faults", n_faults);
  const std::string drawn = curves(rows);
  const std::string functions =
      drawn.empty()
          ? ""
          : "<h2>Errors of functions</h2><p class=soft>The largest error in ulp around each "
            "input, on a logarithmic axis of either sign; the line is the bound. What is "
            "beyond the bound is red and wider.</p>" +
                drawn;
  return fmt::format(
      "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width,initial-scale=1\"><title>{0}: conformance</title>"
      "<style>{1}</style></head><body>"
      "<h1>{0} {2} on {3}</h1><p class=soft>profile {4}, level {5}, seed {6}</p>"
      "<p class=\"verdict {7}\">{8}</p>{9}"
      "<div class=sum><div>{10} / {11} / {12}<small>claims: executed, claimed, whole</small></div>"
      "<div>{13}<small>cells: op, dtype, property</small></div><div>{14}<small>cases</small></div>"
      "</div><h2>Faults</h2>{15}<h2>Ops by dtype</h2>{16}{17}<h2>Properties</h2>{18}"
      "<h2>Largest error</h2>{19}{20}<h2>Functions</h2>{21}<h2>Device</h2>{22}</body></html>\n",
      escape_xml(heading.plugin), kStyle, escape_xml(heading.version), escape_xml(heading.device),
      heading.profile, heading.level, heading.seed, passed ? "p" : "f", verdict, notes,
      heading.n_executed, heading.n_claims, heading.n_whole, rows.size(), cases,
      faults(heading, rows), heat_map(rows), functions, properties(rows), error_bars(rows),
      unclaimed(rows), function_table(rows), device_table(rows));
}

}  // namespace tenon_kit

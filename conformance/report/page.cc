// The page for a person: which ops hold in which dtypes, how far each is from the truth, and a line
// for every fault. One file, without a network, light or dark as the reader's machine is.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/device/device_check.h"
#include "conformance/kit/dtypes.h"
#include "conformance/report/report.h"

namespace tenon_kit {
namespace {

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--ink:#1a1c1e;--paper:#fcfcfa;--line:#d8d8d4;--soft:#6b6f74;
--pass:#2e8b57;--fail:#c0392b;--warn:#c98a00;--none:#e9e9e5}
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e3;--paper:#16181a;--line:#34383c;--soft:#9aa0a6;
--pass:#4cc38a;--fail:#ff6f61;--warn:#e5b454;--none:#24272a}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70rem;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2.5rem 0 .5rem}
p.soft,td.soft,.soft{color:var(--soft)}
table{border-collapse:collapse;font-size:13px}
td,th{padding:2px 6px;text-align:left;font-weight:normal}
.map td{width:2.2rem;height:1.25rem;padding:0;border:1px solid var(--paper);text-align:center}
.map th{color:var(--soft)}
.p{background:var(--pass)}.f{background:var(--fail)}.w{background:var(--warn)}.n{background:var(--none)}
.sum{display:flex;gap:2rem;flex-wrap:wrap;margin:1rem 0}
.sum div{font-size:1.6rem}.sum small{display:block;font-size:13px;color:var(--soft)}
code{font:12px/1.4 ui-monospace,monospace;word-break:break-all}
.bar{height:10px;background:var(--pass);display:inline-block;border-radius:2px}
.bad{color:var(--fail)}
)css";

// How a cell of the map looks: green if all passed, red if one did not, grey if nothing is claimed.
char mark(const std::vector<const Row*>& rows) {
  if (rows.empty()) return 'n';
  bool warned = false;
  for (const Row* row : rows) {
    if (row->status == Status::kMistrusted || row->status == Status::kExpectedFail)
      warned = true;
    else if (is_fault(row->status))
      return 'f';
  }
  return warned ? 'w' : 'p';
}

std::vector<std::string> ops_of(const std::vector<Row>& rows) {
  std::vector<std::string> ops;
  for (const OpFacts& op : all_ops()) {
    const bool met =
        std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.op == op.name; });
    if (met) ops.push_back(op.name);
  }
  return ops;
}

// A claim belongs to the dtype that its name begins with.
std::string first_dtype(const std::string& dtypes) {
  return dtypes.substr(0, dtypes.find_first_of(",-"));
}

std::string heat_map(const std::vector<Row>& rows) {
  std::string html = "<table class=map><tr><th>";
  for (const DTypeFacts& d : all_dtypes()) html += fmt::format("<th>{}", d.name);
  for (const std::string& op : ops_of(rows)) {
    html += fmt::format("<tr><th>{}", op);
    for (const DTypeFacts& d : all_dtypes()) {
      std::vector<const Row*> cell;
      uint64_t cases = 0;
      for (const Row& row : rows) {
        if (row.op != op || first_dtype(row.dtypes) != d.name) continue;
        cell.push_back(&row);
        cases += row.cases;
      }
      html += fmt::format("<td class={} title=\"{} {}: {} properties, {} cases\">", mark(cell), op,
                          d.name, cell.size(), cases);
    }
  }
  return html + "</table>";
}

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
  std::string html = "<table>";
  for (const Worst& w : worst) {
    const double width = 12 * (1 + std::log2(1 + w.ulp) * 2);
    html += fmt::format(
        "<tr><td>{}<td class=soft>{:.3g} ulp<td><span class=bar style=\"width:{:.0f}px"
        "\"></span>",
        escaped(w.name), w.ulp, std::min(width, 600.0));
  }
  return html + "</table>";
}

std::string faults(const std::vector<Row>& rows) {
  std::string html;
  for (const Row& row : rows) {
    if (!is_fault(row.status)) continue;
    html += fmt::format("<tr><td class=bad>{}<td>{}<td>{}<td>{}<td>{}", name_of(row.status),
                        row.check, row.op, escaped(row.dtypes), escaped(row.message));
    if (!row.line.empty()) {
      html += fmt::format("<br><code>--check {} --case '{}'</code>", row.check, escaped(row.line));
    }
  }
  if (html.empty()) return "<p>None.</p>";
  return "<table><tr><th>status<th>property<th>op<th>dtypes<th>what happened" + html + "</table>";
}

std::string properties(const std::vector<Row>& rows) {
  std::string html = "<table><tr><th>property<th>level<th>cells<th>passed<th>cases<th>what it says";
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
    html += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td class=soft>{}", check.name,
                        check.level, cells, passed, cases, escaped(check.what));
  }
  return html + "</table>";
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
    notes += "<p class=soft>" + escaped(note) + "</p>";
  }
  return fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width\"><title>{0} conformance</title><style>{1}</style>"
      "<h1>{0} {2} on {3}</h1><p class=soft>profile {4}, level {5}, seed {6}</p>{7}"
      "<div class=sum><div>{8}<small>claims</small></div><div>{9}<small>cells</small></div>"
      "<div>{10}<small>cases</small></div><div class=\"{11}\">{12}<small>faults</small></div></div>"
      "<h2>Ops by dtype</h2>{13}<h2>Faults</h2>{14}<h2>Properties</h2>{15}"
      "<h2>Largest error</h2>{16}<h2>Device</h2>{17}</html>\n",
      escaped(heading.plugin), kStyle, escaped(heading.version), escaped(heading.device),
      heading.profile, heading.level, heading.seed, notes, heading.n_claims, rows.size(), cases,
      n_faults ? "bad" : "", n_faults, heat_map(rows), faults(rows), properties(rows),
      error_bars(rows), device_table(rows));
}

}  // namespace tenon_kit

// Writes the HTML page that shows which check caught which mutant.

#include <fmt/format.h>

#include <map>

#include "conformance/mutants/mutants.h"

namespace tenon_kit {
namespace {

std::string escape_html(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

// Joins words with commas.
std::string join_with_commas(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : ", ") + word;
  return result;
}

// Returns "caught", "survived" or "unreached": the CSS class of a mutant's row, and its text.
const char* state_name(const Outcome& outcome) {
  if (outcome.caught) return "caught";
  return outcome.reached ? "survived" : "unreached";
}

// Returns the HTML table row of one mutant.
std::string table_row(const Outcome& outcome) {
  const Mutant& mutant = *outcome.mutant;
  const std::string found =
      outcome.caught ? fmt::format("{} {}: {}", outcome.op, outcome.dtypes, outcome.message)
                     : (mutant.why.empty() ? outcome.message : mutant.why);
  return fmt::format(
      "<tr class=\"{0}\"><td>{1}</td><td>{2}</td><td><code>{3}:{4}</code></td><td>{0}</td>"
      "<td>{5}</td><td>{6}</td></tr>\n",
      state_name(outcome), escape_html(mutant.name), escape_html(mutant.what),
      escape_html(mutant.file), mutant.line, escape_html(join_with_commas(outcome.checks)),
      escape_html(found.substr(0, 300)));
}

// Returns an HTML table of the outcomes of either the generated or the named mutants.
std::string outcome_table(const std::vector<Outcome>& outcomes, bool generated) {
  std::string rows;
  for (const Outcome& outcome : outcomes) {
    if (outcome.mutant->generated == generated) rows += table_row(outcome);
  }
  return "<table><tr><th>mutant</th><th>what it does</th><th>where</th><th></th><th>checks</th>"
         "<th>first seen</th></tr>\n" +
         rows + "</table>\n";
}

// Returns an HTML table with a row for each check: how many mutants it caught, and for how many of
// them it was the first check that failed.
std::string check_count_table(const std::vector<Outcome>& outcomes) {
  std::map<std::string, std::pair<size_t, size_t>> found;
  for (const Outcome& outcome : outcomes) {
    for (const std::string& check : outcome.checks) {
      auto& [all, first] = found[check];
      ++all;
      if (check == outcome.checks[0]) ++first;
    }
  }
  std::string rows;
  for (const auto& [check, n] : found) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", check, n.first, n.second);
  }
  return "<table><tr><th>check</th><th>caught</th><th>as the first</th></tr>\n" + rows +
         "</table>\n";
}

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --line: #ccc; --bad: #b00020; --dim: #777; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --bad: #ff8a80; --dim: #999; } }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
td, th { border-bottom: 1px solid var(--line); padding: .25em .6em; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
td:nth-child(3), td:nth-child(4) { white-space: nowrap; }
.survived td:nth-child(4) { color: var(--bad); font-weight: bold; }
.unreached { color: var(--dim); }
pre { white-space: pre-wrap; }
)";

}  // namespace

std::string mutants_page(const std::vector<Outcome>& outcomes, const std::string& summary) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Mutants</title>"
      "<style>{}</style></head><body>\n<h1>Mutants</h1>\n"
      "<p>Copies of the reference plugin and of derivatives, each with one fault, and the checks "
      "of "
      "the conformance kit that found it. A named mutant shows all checks that failed on the first "
      "claim with a fault, a generated one the first.</p>\n<pre>{}</pre>\n"
      "<h2>Checks</h2>\n{}<h2>Named</h2>\n{}<h2>Generated</h2>\n{}</body></html>\n",
      kStyle, escape_html(summary), check_count_table(outcomes), outcome_table(outcomes, false),
      outcome_table(outcomes, true));
}

}  // namespace tenon_kit

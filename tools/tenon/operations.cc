#include "tools/tenon/operations.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/tenon/failure.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

// Returns the text at a key of an object.
std::string text_at(const Json& object, const char* key) { return object[key].get<std::string>(); }

void print_list(const Json& pages) {
  std::string family;
  Rows rows;
  const auto flush = [&] {
    fmt::print("{}", columns(rows, 2));
    rows.clear();
  };
  for (const Json& page : pages) {
    if (text_at(page, "family") != family) {
      flush();
      family = text_at(page, "family");
      fmt::print("{}{}\n", &page == &pages[0] ? "" : "\n", family);
    }
    rows.push_back({text_at(page, "name"), text_at(page, "summary")});
  }
  flush();
  fmt::print("\n`tenon ops NAME` prints the page of one.\n");
}

void print_section(const char* title, const std::string& body) {
  if (!body.empty()) fmt::print("\n{}\n{}", title, body);
}

// Returns the lines, each indented by two spaces.
std::string indented(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    text += fmt::format("  {}\n", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

Rows input_rows(const Json& page) {
  Rows rows;
  for (const Json& input : page["inputs"]) {
    const std::string kind = text_at(input, "kind");
    const std::string note = kind == "required"   ? ""
                             : kind == "optional" ? "Optional. "
                                                  : "Any number. ";
    rows.push_back({text_at(input, "name"), note + text_at(input, "doc")});
  }
  return rows;
}

Rows output_rows(const Json& page) {
  Rows rows;
  for (const Json& output : page["outputs"]) {
    rows.push_back({text_at(output, "name"), text_at(output, "doc")});
  }
  return rows;
}

Rows attr_rows(const Json& page) {
  Rows rows;
  for (const Json& attr : page["attrs"]) {
    rows.push_back({text_at(attr, "name"), text_at(attr, "type"),
                    "= " + text_at(attr, "default_text"), text_at(attr, "doc")});
  }
  return rows;
}

// Returns a row for each property of the op that the page states, such as its derivative.
Rows fact_rows(const Json& page) {
  Rows rows;
  const std::pair<const char*, const char*> facts[] = {{"derivative", "derivative"},
                                                       {"numerics", "numerics"},
                                                       {"promotion", "promotion"},
                                                       {"kind", "kind"},
                                                       {"ONNX", "onnx"},
                                                       {"since", "since"}};
  for (const auto& [label, key] : facts) {
    if (!text_at(page, key).empty()) rows.push_back({label, text_at(page, key)});
  }
  return rows;
}

void print_page(const Json& page) {
  fmt::print("{}: {}\n", text_at(page, "name"), text_at(page, "summary"));
  print_section("formula", indented(text_at(page, "formula")));
  if (!text_at(page, "details").empty()) fmt::print("\n{}", wrapped(text_at(page, "details"), 0));
  print_section("in C", indented(text_at(page, "declaration")));
  print_section("inputs", columns(input_rows(page), 2));
  print_section("outputs", columns(output_rows(page), 2));
  print_section("attributes", columns(attr_rows(page), 2));
  Rows rules;
  for (const Json& rule : page["rules"])
    rules.push_back({text_at(rule, "label"), text_at(rule, "text")});
  print_section("rules, which messages name", columns(rules, 2));
  print_section("facts", columns(fact_rows(page), 2));
}

// Returns the name of an op that is similar to `name`, to suggest it; empty if none is similar
// enough.
std::string nearest_op_name(const Json& pages, const std::string& name) {
  constexpr size_t kMaxDistance = 2;
  size_t least = kMaxDistance + 1;
  std::string best;
  for (const Json& page : pages) {
    const std::string other = text_at(page, "name");
    const size_t distance = edit_distance(name, other, kMaxDistance);
    if (distance >= least) continue;
    least = distance;
    best = other;
  }
  return best;
}

// Returns the page of an op. Throws a Failure, with a suggestion, if there is no such op.
const Json& find_page(const Json& pages, const std::string& name) {
  const auto found = std::find_if(pages.begin(), pages.end(),
                                  [&](const Json& page) { return text_at(page, "name") == name; });
  if (found != pages.end()) return *found;
  const std::string meant = nearest_op_name(pages, name);
  throw Failure(fmt::format(
      "unknown op '{}'; {}", shortened(name),
      meant.empty() ? "`tenon ops` lists all" : fmt::format("did you mean '{}'?", meant)));
}

}  // namespace

// Prints the list of ops or the page of one op. Returns the exit status.
int ops(const OpsOptions& options) {
  const Json pages = Json::parse(kPages);
  if (options.name.empty()) {
    options.json ? fmt::print("{}\n", pages.dump(2)) : print_list(pages);
    return kDone;
  }
  const Json& page = find_page(pages, options.name);
  options.json ? fmt::print("{}\n", page.dump(2)) : print_page(page);
  return kDone;
}

}  // namespace tenon::command

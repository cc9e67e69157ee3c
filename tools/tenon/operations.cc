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

std::string get(const Json& object, const char* key) { return object[key].get<std::string>(); }

void print_list(const Json& pages) {
  std::string family;
  Rows rows;
  const auto flush = [&] {
    fmt::print("{}", columns(rows, 2));
    rows.clear();
  };
  for (const Json& page : pages) {
    if (get(page, "family") != family) {
      flush();
      family = get(page, "family");
      fmt::print("{}{}\n", &page == &pages[0] ? "" : "\n", family);
    }
    rows.push_back({get(page, "name"), get(page, "summary")});
  }
  flush();
  fmt::print("\n`tenon ops NAME` prints the page of one.\n");
}

void print_section(const char* title, const std::string& body) {
  if (!body.empty()) fmt::print("\n{}\n{}", title, body);
}

std::string indented(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    text += fmt::format("  {}\n", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

Rows inputs_of(const Json& page) {
  Rows rows;
  for (const Json& input : page["inputs"]) {
    const std::string kind = get(input, "kind");
    const std::string note = kind == "required"   ? ""
                             : kind == "optional" ? "Optional. "
                                                  : "Any number. ";
    rows.push_back({get(input, "name"), note + get(input, "doc")});
  }
  return rows;
}

Rows outputs_of(const Json& page) {
  Rows rows;
  for (const Json& output : page["outputs"]) {
    rows.push_back({get(output, "name"), get(output, "doc")});
  }
  return rows;
}

Rows attrs_of(const Json& page) {
  Rows rows;
  for (const Json& attr : page["attrs"]) {
    rows.push_back(
        {get(attr, "name"), get(attr, "type"), "= " + get(attr, "default_text"), get(attr, "doc")});
  }
  return rows;
}

Rows facts_of(const Json& page) {
  Rows rows;
  const std::pair<const char*, const char*> facts[] = {{"derivative", "derivative"},
                                                       {"numerics", "numerics"},
                                                       {"promotion", "promotion"},
                                                       {"kind", "kind"},
                                                       {"ONNX", "onnx"},
                                                       {"since", "since"}};
  for (const auto& [label, key] : facts) {
    if (!get(page, key).empty()) rows.push_back({label, get(page, key)});
  }
  return rows;
}

void print_page(const Json& page) {
  fmt::print("{}: {}\n", get(page, "name"), get(page, "summary"));
  print_section("formula", indented(get(page, "formula")));
  if (!get(page, "details").empty()) fmt::print("\n{}", wrapped(get(page, "details"), 0));
  print_section("in C", indented(get(page, "declaration")));
  print_section("inputs", columns(inputs_of(page), 2));
  print_section("outputs", columns(outputs_of(page), 2));
  print_section("attributes", columns(attrs_of(page), 2));
  Rows rules;
  for (const Json& rule : page["rules"]) rules.push_back({get(rule, "label"), get(rule, "text")});
  print_section("rules, which messages name", columns(rules, 2));
  print_section("facts", columns(facts_of(page), 2));
}

// Returns the name of an op that is similar to `name`, to suggest it; empty if none is similar
// enough.
std::string nearest(const Json& pages, const std::string& name) {
  constexpr size_t kMaxDistance = 2;
  size_t least = kMaxDistance + 1;
  std::string best;
  for (const Json& page : pages) {
    const std::string other = get(page, "name");
    const size_t distance = edit_distance(name, other, kMaxDistance);
    if (distance >= least) continue;
    least = distance;
    best = other;
  }
  return best;
}

const Json& find(const Json& pages, const std::string& name) {
  const auto found = std::find_if(pages.begin(), pages.end(),
                                  [&](const Json& page) { return get(page, "name") == name; });
  if (found != pages.end()) return *found;
  const std::string meant = nearest(pages, name);
  throw Failure(fmt::format(
      "unknown op '{}'; {}", shortened(name),
      meant.empty() ? "`tenon ops` lists all" : fmt::format("did you mean '{}'?", meant)));
}

}  // namespace

int ops(const OpsOptions& options) {
  const Json pages = Json::parse(kPages);
  if (options.name.empty()) {
    options.json ? fmt::print("{}\n", pages.dump(2)) : print_list(pages);
    return kDone;
  }
  const Json& page = find(pages, options.name);
  options.json ? fmt::print("{}\n", page.dump(2)) : print_page(page);
  return kDone;
}

}  // namespace tenon::command

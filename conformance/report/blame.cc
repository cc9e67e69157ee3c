#include "conformance/report/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "conformance/kit/op_registry.h"

namespace tenon_kit {
namespace {

constexpr const char* kBegin = " [launches ";
constexpr size_t kMaxListed = 8;

// Whether the registry contains an op of this name.
bool is_op(const std::string& name) { return find_op(std::string_view(name)) != nullptr; }

// Returns the op at the beginning of a message such as "gather: ..." or, for a kernel entry,
// `abs "f32->f32"...`. Returns an empty text if there is none.
std::string first_op(const std::string& message) {
  const std::string name = message.substr(0, message.find_first_of(" :"));
  return is_op(name) ? name : "";
}

// Returns all ops whose fault may explain a failing row, including the row's own op.
std::set<std::string> suspects(const Row& row) {
  std::set<std::string> ops;
  for (const std::string& op : parse_launched_ops(row)) ops.insert(op);
  // Adds the ops that the row's program or problem contains.
  const std::string key = "\"op\":\"";
  for (size_t at = row.line.find(key); at != std::string::npos; at = row.line.find(key, at)) {
    at += key.size();
    const std::string op = row.line.substr(at, row.line.find('"', at) - at);
    if (is_op(op)) ops.insert(op);
  }
  // Adds the op at the beginning of the message, or after a prefix such as "the call failed: ".
  const size_t colon = row.message.find(": ");
  const std::string rest = colon == std::string::npos ? "" : row.message.substr(colon + 2);
  for (const std::string& text : {row.message, rest}) {
    if (const std::string op = first_op(text); !op.empty()) ops.insert(op);
  }
  if (is_op(row.op)) ops.insert(row.op);
  return ops;
}

// Returns the sort key of a row. Rows with fewer suspects sort first, then rows of a lower level,
// then rows with a smaller problem.
std::tuple<size_t, int, size_t> specificity_key(const Row& row) {
  return {suspects(row).size(), row.level, row.line.size()};
}

struct Group {
  std::vector<const Row*> own, consequences;
};

std::string name_of_cell(const Row& row) { return row.check + " " + row.op + " " + row.dtypes; }

// Returns a line with the title, the number of rows, and the cells of the first kMaxListed rows.
std::string list_cells(const char* title, const std::vector<const Row*>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format("    {} ({}): ", title, rows.size());
  for (size_t i = 0; i < rows.size() && i < kMaxListed; ++i) {
    text += (i ? ", " : "") + name_of_cell(*rows[i]);
  }
  if (rows.size() > kMaxListed) text += ", ...";
  return text + "\n";
}

}  // namespace

// Appends the names of the ops to a message.
std::string with_launched_ops(const std::string& message, const std::vector<std::string>& ops) {
  if (ops.empty()) return message;
  return message + kBegin + fmt::format("{}", fmt::join(ops, ", ")) + "]";
}

// Returns the ops that with_launched_ops() appended to the message of the row.
std::vector<std::string> parse_launched_ops(const Row& row) {
  std::vector<std::string> ops;
  const size_t at = row.message.find(kBegin);
  if (at == std::string::npos) return ops;
  std::string name;
  for (size_t i = at + std::string(kBegin).size(); i < row.message.size(); ++i) {
    const char c = row.message[i];
    if (c == ',' || c == ']') ops.push_back(std::exchange(name, {}));
    if (c == ']') break;
    if (c != ',' && c != ' ') name += c;
  }
  return ops;
}

std::string fault_summary(const std::vector<Row>& rows) {
  std::vector<const Row*> faults;
  for (const Row& row : rows) {
    if (is_fault(row.status)) faults.push_back(&row);
  }
  if (faults.size() < 2) return "";
  std::stable_sort(faults.begin(), faults.end(), [](const Row* a, const Row* b) {
    return specificity_key(*a) < specificity_key(*b);
  });
  // Processes the most specific rows first. A row is a consequence if an op that it uses fails by
  // itself.
  std::vector<std::string> order;
  std::map<std::string, Group> groups;
  for (const Row* row : faults) {
    const std::set<std::string> ops = suspects(*row);
    const auto cause = std::find_if(order.begin(), order.end(), [&](const std::string& failing) {
      return failing == row->op || (!groups.contains(row->op) && ops.contains(failing));
    });
    const bool is_first = cause == order.end();
    std::string name = is_op(row->op) || ops.empty() ? row->op : *ops.begin();
    if (!is_first) name = *cause;
    if (is_first) order.push_back(name);
    Group& group = groups[name];
    (is_first || row->op == name ? group.own : group.consequences).push_back(row);
  }
  std::string text = "faults, the most specific first:\n";
  for (const std::string& op : order) {
    Group& group = groups[op];
    const Row& first = *group.own[0];
    text += fmt::format("  {} {}: {}\n", name_of(first.status), name_of_cell(first), first.message);
    if (!first.line.empty())
      text += fmt::format("    --check {} --case '{}'\n", first.check, first.line);
    group.own.erase(group.own.begin());
    text += list_cells("also", group.own) + list_cells("in consequence", group.consequences);
  }
  return text;
}

}  // namespace tenon_kit

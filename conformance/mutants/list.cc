#include <fmt/format.h>

#include "conformance/kit/json.h"
#include "conformance/mutants/mutants.h"

namespace tenon_kit {

extern const char* const kMutants[];  // Written to the build folder by mutate.py.

std::vector<Mutant> all_mutants() {
  std::vector<Mutant> mutants;
  for (const char* const* text = kMutants; *text; ++text) {
    const Json json = Json::parse(*text);
    Mutant mutant = {.number = json.at("number"),
                     .name = json.value("name", ""),
                     .what = json.value("what", ""),
                     .file = json.at("file"),
                     .line = json.at("line"),
                     .original = json.at("original"),
                     .changed = json.at("changed"),
                     .key = json.value("key", ""),
                     .why = json.value("why", ""),
                     .ops = json.value("ops", std::vector<std::string>()),
                     .checks = json.value("checks", std::vector<std::string>()),
                     .options = json.value("options", std::vector<std::string>())};
    mutant.generated = mutant.name.empty();
    if (mutant.generated) {
      mutant.name = fmt::format("{}", mutant.number);
      mutant.what = fmt::format("{} becomes {}", mutant.original, mutant.changed);
    }
    mutants.push_back(std::move(mutant));
  }
  return mutants;
}

Json to_json(const Outcome& outcome) {
  const Mutant& mutant = *outcome.mutant;
  Json json = {
      {"name", mutant.name},      {"what", mutant.what},           {"file", mutant.file},
      {"line", mutant.line},      {"generated", mutant.generated}, {"reached", outcome.reached},
      {"caught", outcome.caught}, {"cells", outcome.cells},        {"seconds", outcome.seconds}};
  if (mutant.generated) json["key"] = mutant.key;
  if (!mutant.why.empty()) json["why"] = mutant.why;
  if (outcome.caught) {
    json["op"] = outcome.op;
    json["dtypes"] = outcome.dtypes;
    json["status"] = outcome.status;
    json["checks"] = outcome.checks;
    json["message"] = outcome.message;
  }
  return json;
}

}  // namespace tenon_kit

#include "core/io/program_json.h"

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/io/static_json.h"
#include "core/io/strict_json.h"

namespace tenon {
namespace {

constexpr uint64_t kMaxJsonBytes = uint64_t{1} << 26;
// Maximum nesting depth of tenon.json. Static arguments begin at level 5.
constexpr int kMaxDepth = 5 + kMaxStaticDepth;

// Returns whether a JSON value has the type that `form` names.
bool has_form(const Json& value, JsonForm form) {
  switch (form) {
    case JsonForm::kText:
      return value.is_string();
    case JsonForm::kBool:
      return value.is_boolean();
    case JsonForm::kList:
      return value.is_array();
    case JsonForm::kObject:
      return value.is_object();
  }
  return false;
}

}  // namespace

Json read_program_json(onnx::ModelFolder& files) {
  const std::string text = onnx::read_whole(files.open(kProgramJson), kMaxJsonBytes, kProgramJson);
  Json json = parse_strict_json(text, kMaxDepth, kProgramJson);
  const auto value_of = [&](const char* name) {
    const Json* found = json.find(name);
    return found ? *found : Json();
  };
  require_code(value_of("format") == "tenon program", Code::kDataLoss,
               "tenon.json must have \"format\": \"tenon program\"");
  require_code(value_of("version") == 1, Code::kUnimplemented,
               "tenon.json has version {}, but only version 1 is supported",
               value_of("version").dump());
  json.items().erase("version");
  require_keys(json, kProgramJson,
               {{"format", JsonForm::kText},
                {"weights", JsonForm::kText},
                {"functions", JsonForm::kObject},
                {"variables", JsonForm::kList}});
  return json;
}

// Throws DATA_LOSS unless the object has exactly these keys, with values of these types.
void require_keys(const Json& object, std::string_view what, std::initializer_list<JsonKey> keys) {
  require_code(object.is_object(), Code::kDataLoss, "{} is not an object", what);
  for (const JsonKey& key : keys) {
    const Json* value = object.find(key.name);
    require_code(value && has_form(*value, key.form), Code::kDataLoss,
                 "{} must have the key \"{}\" with a value of the right type", what, key.name);
  }
  for (const auto& item : object.items()) {
    require_code(any_of(keys, [&](const JsonKey& key) { return item.first == key.name; }),
                 Code::kDataLoss, "{} has \"{}\", which is not supported", what, item.first);
  }
}

// Returns the elements of a list of texts. Throws DATA_LOSS if it contains other values.
std::vector<std::string> read_texts(const Json& list, std::string_view what) {
  std::vector<std::string> texts;
  for (const Json& each : list) {
    require_code(each.is_string(), Code::kDataLoss, "{} must be a list of names, but contains {}",
                 what, each.dump());
    texts.push_back(each.text());
  }
  return texts;
}

// Returns the names of the files that the folder's tenon.json lists; none if it is unreadable.
std::vector<std::string> listed_files(const std::string& folder) {
  std::vector<std::string> names;
  const auto add = [&](const Json& name) {
    const std::string& text = name.text();
    const bool is_ours = text.ends_with(".onnx") || text.ends_with(".safetensors");
    if (is_ours && text.find_first_of("/\\") == std::string::npos) names.push_back(text);
  };
  try {
    onnx::ModelFolder files(folder);
    const Json json = read_program_json(files);
    add(json["weights"]);
    for (const auto& [name, function] : json["functions"].items()) {
      for (const Json& signature : function["signatures"]) add(signature["file"]);
    }
  } catch (const Error& error) {
    if (error.code() == Code::kOutOfMemory) throw;
    return {};  // The folder holds no readable program.
  }
  return names;
}

}  // namespace tenon

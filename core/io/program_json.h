// tenon.json, the description of a saved program, in which everything has one meaning and nothing
// is ignored. 0030 in docs/design shows one.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/io/onnx/external_data.h"

namespace tenon {

constexpr const char* kProgramJson = "tenon.json";

// What the folder's says, of the version that is known here; "version" is not among it. Throws
// NOT_FOUND, DATA_LOSS or UNIMPLEMENTED.
Json read_program_json(onnx::ModelFolder& files);

// ---- parts of it, for which these throw DATA_LOSS

enum class JsonForm { kText, kBool, kList, kObject };

struct JsonKey {
  const char* name;
  JsonForm form;
};

// Unless an object has exactly these keys.
void require_keys(const Json& object, std::string_view what, std::initializer_list<JsonKey> keys);

std::vector<std::string> texts_in(const Json& list, std::string_view what);

// ---- what lies beside it

// The files that the folder's program lists and that a save may have written there: none where no
// program is read, and none of names that a save does not give.
std::vector<std::string> listed_files(const std::string& folder);

}  // namespace tenon

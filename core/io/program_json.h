// tenon.json, the description of a saved program. Every key has exactly one meaning and none is
// ignored. 0030 in docs/design shows one.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/io/onnx/external_data.h"

namespace tenon {

constexpr const char* kProgramJson = "tenon.json";

// Reads the folder's tenon.json, without its "version", which must be the supported one. Throws
// NOT_FOUND, DATA_LOSS or UNIMPLEMENTED.
Json read_program_json(onnx::ModelFolder& files);

// ---- parts of it; these functions throw DATA_LOSS

enum class JsonForm { kText, kBool, kList, kObject };

struct JsonKey {
  const char* name;
  JsonForm form;
};

// Throws unless the object has exactly these keys.
void require_keys(const Json& object, std::string_view what, std::initializer_list<JsonKey> keys);

std::vector<std::string> texts_in(const Json& list, std::string_view what);

// ---- the files beside it

// The files that the folder's program lists and that a save may have written. Empty if no program
// can be read. Omits names that a save does not use.
std::vector<std::string> listed_files(const std::string& folder);

}  // namespace tenon

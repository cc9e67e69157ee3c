// Reads tenon.json, the description of a saved program. Unknown keys are errors, not ignored. An
// example is in docs/design/0030.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/io/onnx/external_data.h"

namespace tenon {

constexpr const char* kProgramJson = "tenon.json";

// Reads the folder's tenon.json and returns it without the key "version". Throws NOT_FOUND if there
// is no such file, DATA_LOSS if it is malformed, and UNIMPLEMENTED for a different version of the
// format.
Json read_program_json(onnx::ModelFolder& files);

// ---- checks of single values; these functions throw DATA_LOSS

enum class JsonForm { kText, kBool, kList, kObject };

struct JsonKey {
  const char* name;
  JsonForm form;
};

// Throws DATA_LOSS unless the object has exactly these keys, with values of these kinds. `what`
// names the object in error messages.
void require_keys(const Json& object, std::string_view what, std::initializer_list<JsonKey> keys);

// Returns the elements of a list of texts. `what` names the object that has the list in error
// messages.
std::vector<std::string> read_texts(const Json& list, std::string_view what);

// ---- other files of the program

// Returns the names of the files that the folder's program lists. Names that no save could have
// written are omitted. Returns an empty list if the folder has no readable program.
std::vector<std::string> listed_files(const std::string& folder);

}  // namespace tenon

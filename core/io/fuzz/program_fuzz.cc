// A libFuzzer target for tenon.json: reads a valid saved program whose description is replaced by
// the fuzzer's bytes.

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/io/fuzz/fuzz.h"
#include "core/io/program.h"
#include "core/io/save_program.h"
#include "core/ops/definition/formulas.h"

namespace tenon {
namespace {

// A temporary folder that holds a saved program. Its function f adds the variable w to the input
// and assigns the sum to w. f has two signatures, for inputs of size 1 and 2. The folder is in
// memory if the system has /dev/shm.
class Folder {
 public:
  Folder() {
    const bool has_memory = std::filesystem::exists("/dev/shm");
    const std::filesystem::path parent =
        has_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    path_ = parent / ("tenon_fuzz_" + std::to_string(::getpid()));
    Scope& scope = fuzz::scope();
    const Tensor two = fill(number(2), Dims{2}, DType::kF32);
    const auto w = Ref<Variable>::adopt(new Variable(scope, two, "w", true));
    const auto body = [w](Scope& inner, TensorSpan in, const Statics&) {
      Tensor y = in[0] + w->read(inner);
      w->assign(inner, y);
      return Tensors{y};
    };
    const auto f = Ref<Function>::adopt(new Function(scope.context(), "f", body, {}));
    const Tensor one = fill(number(2), Dims{1}, DType::kF32);
    const FunctionToSave saved[] = {{"f", f->bind(scope, {&two, 1}, {}).trace},
                                    {"f", f->bind(scope, {&one, 1}, {}).trace}};
    save_program(scope, path_.string(), saved);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void read_with(const std::string& json) const {
    std::ofstream(path_ / "tenon.json", std::ios::binary | std::ios::trunc) << json;
    read_program(fuzz::scope(), path_.string());
  }

 private:
  std::filesystem::path path_;
};

}  // namespace
}  // namespace tenon

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  static const Folder folder;
  return fuzz::call_reader(data, size, [](const std::string& bytes) { folder.read_with(bytes); });
}

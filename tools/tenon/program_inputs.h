// The inputs of a function of a program: arrays from files, static arguments, and the signature
// that fits.

#pragma once

#include <map>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

#include "tools/tenon/npy.h"
#include "tools/tenon/program_call.h"

namespace tenon::command {

// The inputs of one call, in the order of the signature that fits.
struct Call {
  const ProgramSignature* signature;
  std::vector<Tensor> inputs;
  Statics statics;
};

class CallInputs {
 public:
  // Reads the files. Throws a Failure if the function has no such input.
  CallInputs(const OpenedProgram& opened, const ProgramFunction& function,
             const CallOptions& options);

  // The call with all of the inputs. Throws a Failure that describes the error, or lists the
  // signatures if none fits.
  Call all() const;
  // The call with rows [begin, end) of the inputs. Some sizes may not fit any signature, so
  // try_part checks them before anything runs.
  Call part(int64_t begin, int64_t end) const;
  void try_part(int64_t rows) const { find(rows); }
  // The common size of the first axis. Throws a Failure if it differs between inputs.
  int64_t rows() const;

 private:
  struct File {
    std::string path;
    NpyArray array;  // Row-major.
  };
  // The signature for a first axis of that size, or for the whole inputs.
  const ProgramSignature& find(int64_t rows) const;
  std::string problem_with(const ProgramSignature& signature, int64_t rows) const;
  bool has_statics(const ProgramSignature& signature) const;
  std::string types(int64_t rows) const;

  const OpenedProgram& opened_;
  const ProgramFunction& function_;
  std::map<std::string, File> files_;  // Keyed by the names of inputs.
  nlohmann::ordered_json static_values_;
  Statics statics_;
};

}  // namespace tenon::command

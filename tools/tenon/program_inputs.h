// Reads the inputs of a function from the command line: arrays from files, and static arguments.
// Selects the signature that they match.

#pragma once

#include <map>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

#include "tools/tenon/npy.h"
#include "tools/tenon/program_call.h"

namespace tenon::command {

// The inputs of one call, in the order of the selected signature.
struct Call {
  const ProgramSignature* signature;
  std::vector<Tensor> inputs;
  Statics statics;
};

class CallInputs {
 public:
  // Reads the files. Throws a Failure if no signature of the function has an input of that name.
  CallInputs(const OpenedProgram& opened, const ProgramFunction& function,
             const CallOptions& options);

  // Returns the call with complete inputs. Throws a Failure that states why they do not match, or
  // that lists the signatures if there are several.
  Call all() const;
  // Returns the call with rows [begin, end) of all inputs. A signature may not accept that number
  // of rows, so try_part() checks it before anything runs.
  Call part(int64_t begin, int64_t end) const;
  void try_part(int64_t rows) const { find(rows); }
  // Returns the number of rows: the size of the first axis. Throws a Failure if inputs have
  // different ones.
  int64_t rows() const;

 private:
  struct File {
    std::string path;
    NpyArray array;  // Row-major.
  };
  // Returns the signature that accepts `rows` rows.
  const ProgramSignature& find(int64_t rows) const;
  std::string problem_with(const ProgramSignature& signature, int64_t rows) const;
  bool has_statics(const ProgramSignature& signature) const;
  std::string types(int64_t rows) const;

  const OpenedProgram& opened_;
  const ProgramFunction& function_;
  std::map<std::string, File> files_;  // Keyed by input name.
  nlohmann::ordered_json static_values_;
  Statics statics_;
};

}  // namespace tenon::command

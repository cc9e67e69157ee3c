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

  // Returns the call with complete inputs. Throws a Failure if they match no signature. The
  // message states the reason or, if there are several signatures, lists them.
  Call all() const;
  // Returns the call with rows [begin, end) of all inputs. Throws a Failure if no signature accepts
  // that number of rows. Callers can check this by try_part() before anything runs.
  Call part(int64_t begin, int64_t end) const;
  // Throws a Failure if no signature accepts the inputs with this number of rows.
  void try_part(int64_t rows) const { find(rows); }
  // Returns the size of the first axis, which is the number of rows. Throws a Failure if the inputs
  // have different numbers of rows.
  int64_t rows() const;

 private:
  struct File {
    std::string path;
    NpyArray array;  // Row-major.
  };
  // Returns the signature that accepts the inputs with `rows` rows, or with all rows. Throws a
  // Failure if there is none.
  const ProgramSignature& find(int64_t rows) const;
  // Returns the reason why the inputs do not match a signature; empty if they match.
  std::string problem_with(const ProgramSignature& signature, int64_t rows) const;
  // Returns whether the static arguments of the call are those of the signature.
  bool has_statics(const ProgramSignature& signature) const;
  // Formats the types of the inputs, cut to `rows` rows, and the static arguments, for messages.
  std::string types(int64_t rows) const;

  const OpenedProgram& opened_;
  const ProgramFunction& function_;
  std::map<std::string, File> files_;  // Keyed by input name.
  nlohmann::ordered_json static_values_;
  Statics statics_;
};

}  // namespace tenon::command

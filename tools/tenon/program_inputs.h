// What a function of a program is called with: arrays from files, static arguments, and the
// signature that takes them.

#pragma once

#include <map>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

#include "tools/tenon/npy.h"
#include "tools/tenon/program_call.h"

namespace tenon::command {

// The inputs of one call, in the order of the signature that takes them.
struct Call {
  const ProgramSignature* signature;
  std::vector<Tensor> inputs;
  Statics statics;
};

class CallInputs {
 public:
  // Reads the files. Throws a Failure where the function has no such input.
  CallInputs(const OpenedProgram& opened, const ProgramFunction& function,
             const CallOptions& options);

  // Of all of them. Throws a Failure that says what is wrong, or lists the signatures of which none
  // takes them.
  Call all() const;
  // Of some of their first axis, from `begin` to `end`. Those of some sizes may fail, so that they
  // are tried before anything runs.
  Call part(int64_t begin, int64_t end) const;
  void try_part(int64_t rows) const { find(rows); }
  // The size of the first axis of all of them. Throws a Failure where they differ in it.
  int64_t rows() const;

 private:
  struct File {
    std::string path;
    NpyArray array;  // Row-major.
  };
  // With a first axis of that size, or as they are.
  const ProgramSignature& find(int64_t rows) const;
  std::string problem_with(const ProgramSignature& signature, int64_t rows) const;
  bool has_statics(const ProgramSignature& signature) const;
  std::string types(int64_t rows) const;

  const OpenedProgram& opened_;
  const ProgramFunction& function_;
  std::map<std::string, File> files_;  // By the names of inputs.
  nlohmann::ordered_json static_values_;
  Statics statics_;
};

}  // namespace tenon::command

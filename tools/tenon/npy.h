// Arrays in files as NumPy saves them, .npy: https://numpy.org/neps/nep-0001-npy-format.html. Read
// are the versions 1.0, 2.0 and 3.0 with little-endian numbers and booleans, written is 1.0.
//
// A file is taken for hostile: nothing is allocated before its header has been compared with the
// size of the file.

#pragma once

#include <span>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

namespace tenon::command {

struct NpyArray {
  DType dtype;
  Shape shape;
  // Whether the first axis is the fastest, as in Fortran, and not the last.
  bool is_fortran_order = false;
  std::string bytes;
};

// Throws a Failure that names the file, what is wrong there, and what to do.
NpyArray read_npy(const std::string& path);

// Row-major elements. The dtype is one that NumPy has: no bfloat16 and no float128.
void write_npy(const std::string& path, DType dtype, std::span<const int64_t> shape,
               std::string_view bytes);

}  // namespace tenon::command

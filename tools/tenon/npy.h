// Arrays in NumPy's file format .npy: https://numpy.org/neps/nep-0001-npy-format.html. Reads
// versions 1.0, 2.0 and 3.0 with little-endian numbers and booleans; writes version 1.0.
//
// Files are untrusted: nothing is allocated before the header has been checked against the file's
// size.

#pragma once

#include <span>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

namespace tenon::command {

struct NpyArray {
  DType dtype;
  Shape shape;
  // Whether the first axis is the fastest, as in Fortran, instead of the last.
  bool is_fortran_order = false;
  std::string bytes;
};

// Throws a Failure that names the file, the error and a remedy.
NpyArray read_npy(const std::string& path);

// Writes row-major elements. The dtype must exist in NumPy, so not bfloat16 or float128.
void write_npy(const std::string& path, DType dtype, std::span<const int64_t> shape,
               std::string_view bytes);

}  // namespace tenon::command

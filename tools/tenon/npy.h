// Reads and writes arrays in NumPy's file format .npy:
// https://numpy.org/neps/nep-0001-npy-format.html. Reads versions 1.0, 2.0 and 3.0 with
// little-endian numbers and bools. Writes version 1.0.
//
// Files are untrusted. Memory is allocated only after the header has been checked against the size
// of the file.

#pragma once

#include <span>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

namespace tenon::command {

struct NpyArray {
  DType dtype;
  Shape shape;
  // Whether the elements are in Fortran order (first axis contiguous) instead of C order.
  bool is_fortran_order = false;
  std::string bytes;
};

// Reads a file. Throws a Failure that names the file, the error and how to correct it.
NpyArray read_npy(const std::string& path);

// Writes row-major elements. NumPy must support the dtype, so bfloat16 and float128 are not
// allowed.
void write_npy(const std::string& path, DType dtype, std::span<const int64_t> shape,
               std::string_view bytes);

}  // namespace tenon::command

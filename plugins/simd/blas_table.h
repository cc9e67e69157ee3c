// The table of functions of a BLAS library with LAPACK. A plugin may load such a library at run
// time. No plugin links one, and every kernel also works without it.

#pragma once

#include <cstddef>
#include <new>

namespace tenon_simd {

// Function pointers with the signatures of cblas.h and lapack.h, with 32-bit sizes. The last
// arguments of a Fortran function are the lengths of its string arguments.
template <class T>
struct BlasFunctions {
  void (*gemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha,
               const T* a, int a_row, const T* b, int b_row, T beta, T* c, int c_row);
  void (*potrf)(const char* triangle, const int* n, T* a, const int* a_row, int* info, size_t);
  void (*syevd)(const char* vectors, const char* triangle, const int* n, T* a, const int* a_row,
                T* values, T* work, const int* n_work, int* int_work, const int* n_int_work,
                int* info, size_t, size_t);
  void (*gesdd)(const char* vectors, const int* m, const int* n, T* a, const int* a_row, T* values,
                T* left, const int* left_row, T* right, const int* right_row, T* work,
                const int* n_work, int* int_work, int* info, size_t);
};

struct Blas {
  BlasFunctions<float> float32;
  BlasFunctions<double> float64;

  // Every call of the functions above must be enclosed by calls of enter() and leave() on the same
  // thread. Pairs may nest. enter() reserves work memory, and returns false if memory is exhausted.
  bool (*enter)();
  void (*leave)();

  // Whether matrix products by this library are faster than Tenon's own on this processor.
  bool multiplies;

  template <class T>
  const BlasFunctions<T>& functions() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return float32;
    } else {
      return float64;
    }
  }
};

// Calls enter() when it is constructed and leave() when it is destroyed.
class BlasCalls {
 public:
  explicit BlasCalls(const Blas& blas) : blas_(blas.enter() ? &blas : nullptr) {}
  ~BlasCalls() {
    if (blas_ != nullptr) blas_->leave();
  }
  BlasCalls(const BlasCalls&) = delete;
  BlasCalls& operator=(const BlasCalls&) = delete;

  // False if memory is exhausted. The BLAS functions must not be called then.
  explicit operator bool() const { return blas_ != nullptr; }
  // Throws std::bad_alloc if memory is exhausted.
  void require() const {
    if (blas_ == nullptr) throw std::bad_alloc();
  }

 private:
  const Blas* const blas_;
};

}  // namespace tenon_simd

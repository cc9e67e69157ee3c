// Tenon in C++: headers on top of the C ABI. Programs do not depend on a C++ ABI of the library.
//
//   tenon::Tensor x = tenon::matrix<float>({{2}});
//   std::cout << tenon::matmul(x, x);
//
// Handles are reference-counted, errors are thrown as tenon::Error, and every call runs in the
// thread's current scope. See scope.hpp for scopes, stream.hpp for streams, tensor.hpp for tensors,
// ops_gen.hpp for all ops, tape.hpp and gradients.hpp for derivatives, function.hpp for traced
// functions, control.hpp for branches and loops, dynamic_shapes.hpp for computed sizes, list.hpp
// for tensor lists, effects.hpp for printing and assertions, program.hpp for saved programs,
// custom_op.hpp for custom ops, dlpack.hpp and safetensors.hpp for data exchange, profiler.hpp for
// profiling, and async.hpp, which must be included separately, for futures.

#pragma once

#include <tenon/context.hpp>
#include <tenon/control.hpp>
#include <tenon/custom_op.hpp>
#include <tenon/dlpack.hpp>
#include <tenon/dtype.hpp>
#include <tenon/dynamic_shapes.hpp>
#include <tenon/effects.hpp>
#include <tenon/error.hpp>
#include <tenon/function.hpp>
#include <tenon/generator.hpp>
#include <tenon/gradients.hpp>
#include <tenon/handle.hpp>
#include <tenon/list.hpp>
#include <tenon/operators.hpp>
#include <tenon/ops_gen.hpp>
#include <tenon/profiler.hpp>
#include <tenon/program.hpp>
#include <tenon/safetensors.hpp>
#include <tenon/scope.hpp>
#include <tenon/stream.hpp>
#include <tenon/tape.hpp>
#include <tenon/tensor.hpp>
#include <tenon/variable.hpp>

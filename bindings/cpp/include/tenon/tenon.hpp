// Tenon in C++: header-only, over the C ABI alone, so that a program depends on no C++ of ours.
//
//   tenon::Tensor x = tenon::matrix<float>({{2}});
//   std::cout << tenon::matmul(x, x);
//
// Handles are counted and freed by themselves, errors are thrown as tenon::Error, and every call
// runs in the thread's current scope. Read scope.hpp for where, tensor.hpp for what, ops_gen.hpp
// for all ops, tape.hpp and gradients.hpp for derivatives, function.hpp for code that is traced,
// control.hpp for its branches and loops, dynamic_shapes.hpp for computed sizes, list.hpp for what
// they gather, effects.hpp for what it prints and checks, program.hpp for code in files,
// custom_op.hpp for ops of one's own, dlpack.hpp and safetensors.hpp for data of others,
// profiler.hpp for what takes time; async.hpp, to be included by itself, for futures.

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
#include <tenon/tape.hpp>
#include <tenon/tensor.hpp>
#include <tenon/variable.hpp>

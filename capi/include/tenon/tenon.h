/* tenon/tenon.h - includes all headers that a program needs.
 *
 * A context owns devices, calls run in a scope, and tensors are their inputs and outputs:
 *
 *   tenon_context_create(NULL, &context);                      context.h, error.h
 *   tenon_scope* scope = tenon_context_default_scope(context); scope.h, device.h, stream.h
 *   tenon_tensor_from_data(scope, TENON_FLOAT32, ..., &x);     tensor.h, dlpack.h
 *   tenon_softmax(scope, x, NULL, &y);                         ops_gen.h, call.h, custom.h
 *   tenon_tape_gradient(scope, tape, ...);                     tape.h, variable.h, generator.h
 *   tenon_function_call(scope, function, ...);                 function.h, control.h, list.h,
 *                                                              passes.h
 *   tenon_print(scope, ...);                                   effects.h
 *   tenon_safetensors_save(scope, path, ...);                  io.h, program.h
 *   tenon_profiler_start(context, NULL, &profiler);            profiler.h
 */

#ifndef TENON_TENON_H_
#define TENON_TENON_H_

#include <tenon/call.h>
#include <tenon/context.h>
#include <tenon/control.h>
#include <tenon/custom.h>
#include <tenon/device.h>
#include <tenon/dlpack.h>
#include <tenon/effects.h>
#include <tenon/error.h>
#include <tenon/function.h>
#include <tenon/generator.h>
#include <tenon/io.h>
#include <tenon/list.h>
#include <tenon/ops_gen.h>
#include <tenon/passes.h>
#include <tenon/profiler.h>
#include <tenon/program.h>
#include <tenon/scope.h>
#include <tenon/stream.h>
#include <tenon/tape.h>
#include <tenon/tensor.h>
#include <tenon/types.h>
#include <tenon/variable.h>

#endif /* TENON_TENON_H_ */

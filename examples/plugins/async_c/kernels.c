/* The kernels, and their list, which is what the plugin claims and the conformance kit tests. They
 * run on a stream's thread, on copies of launches whose views have addresses.
 *
 * An elementwise op is a loop with one instruction, so one function runs it and all fused loops. */

#include <math.h>

#include "async.h"

static int64_t count(const tenon_view* view) {
  int64_t n = 1;
  for (size_t i = 0; i < view->rank; ++i) n *= view->sizes[i];
  return n;
}

/* Returns the distance in elements of neighbours along an axis; 0 if one element is broadcast to
 * all indices. */
static int64_t stride(const tenon_view* view, size_t axis) {
  return view->strides_class == TENON_STRIDES_UNIFORM ? 0 : view->strides[axis];
}

static size_t bytes_of(tenon_dtype dtype) { return TENON_DTYPE_BITS(dtype) / 8; }

/* ---- preparing ---------------------------------------------------------------------------------
 */

static tenon_error* prepared(tenon_device_p* device, const tenon_kernel_p* made, uint32_t flags,
                             tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits) {
  tenon_kernel_p* kernel = malloc(sizeof *kernel);
  if (!kernel) return async_error(device->host, TENON_OUT_OF_MEMORY, "no memory for a kernel");
  *kernel = *made;
  tenon_kernel_traits traits = {.flags = flags};
  async_fill_struct(out_traits, &traits, sizeof traits);
  *out_kernel = kernel;
  return NULL;
}

#define PREPARE(name)                                                                    \
  static tenon_error* name(tenon_device_p* device, const tenon_kernel_request* request,  \
                           tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits, \
                           tenon_string* out_reason)

/* ---- moving ------------------------------------------------------------------------------------
 */

/* Copies `n` elements of one row. In the input, they are `step` elements apart. */
static void copy_row(void* to, const void* from, size_t bytes, int64_t n, int64_t step) {
#define COPY_AS(type) \
  for (int64_t i = 0; i < n; ++i) ((type*)to)[i] = ((const type*)from)[i * step]
  switch (bytes) {
    case 1:
      COPY_AS(uint8_t);
      break;
    case 2:
      COPY_AS(uint16_t);
      break;
    case 4:
      COPY_AS(uint32_t);
      break;
    default:
      COPY_AS(uint64_t);
      break;
  }
#undef COPY_AS
}

/* Copies elements in row-major order; the input may have any strides. */
static void run_copy(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *x = &launch->inputs[0], *y = &launch->outputs[0];
  const int64_t bytes = (int64_t)bytes_of(y->dtype), n = count(y);
  const size_t last = y->rank > 0 ? (size_t)y->rank - 1 : 0;
  const int64_t row = y->rank > 0 ? y->sizes[last] : 1;
  int64_t at[TENON_MAX_RANK] = {0}, offset = 0;
  (void)self;
  if (n > 0 && x->strides_class == TENON_STRIDES_DENSE) {
    memcpy(y->data, x->data, (size_t)(n * bytes));
    return;
  }
  for (int64_t i = 0; i < n; i += row) {
    copy_row((char*)y->data + i * bytes, (const char*)x->data + offset * bytes, (size_t)bytes, row,
             y->rank > 0 ? stride(x, last) : 0);
    for (size_t axis = last; axis-- > 0;) {
      offset += stride(x, axis);
      if (++at[axis] < y->sizes[axis]) break;
      offset -= stride(x, axis) * at[axis];
      at[axis] = 0;
    }
  }
}

PREPARE(prepare_copy) {
  const tenon_kernel_p made = {.run = run_copy};
  (void)request;
  (void)out_reason;
  return prepared(device, &made, TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC,
                  out_kernel, out_traits);
}

/* Fills the output with a value. The value is a tensor of one element or passed by value; it has an
 * address in both cases. */
static void run_fill(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *x = &launch->inputs[0], *y = &launch->outputs[0];
  const size_t bytes = bytes_of(y->dtype);
  const int64_t n = count(y);
  (void)self;
  for (int64_t i = 0; i < n; ++i) memcpy((char*)y->data + i * (int64_t)bytes, x->data, bytes);
}

PREPARE(prepare_fill) {
  const tenon_kernel_p made = {.run = run_fill};
  (void)request;
  (void)out_reason;
  return prepared(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
}

static int64_t index_at(const tenon_view* view, int64_t i) {
  return view->dtype == TENON_INT64 ? ((const int64_t*)view->data)[i]
                                    : ((const int32_t*)view->data)[i];
}

/* Computes y[o, p, b] = x[o, indices[p], b]. For an index out of range, the result is zero, and the
 * index is reported. */
static void run_gather(const tenon_kernel_p* self, const tenon_launch* launch) {
  const tenon_view *x = &launch->inputs[0], *indices = &launch->inputs[1];
  const bool is_uniform = x->strides_class == TENON_STRIDES_UNIFORM;
  const bool is_one_index = indices->strides_class == TENON_STRIDES_UNIFORM;
  const int64_t picks = count(indices), bound = x->sizes[self->axis];
  const float* from = x->data;
  float* y = launch->outputs[0].data;
  int64_t outer = 1, block = 1;
  if (count(&launch->outputs[0]) == 0) return;
  for (size_t i = 0; i < self->axis; ++i) outer *= x->sizes[i];
  for (size_t i = self->axis + 1; i < x->rank; ++i) block *= x->sizes[i];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t p = 0; p < picks; ++p) {
      const int64_t given = index_at(indices, is_one_index ? 0 : p);
      const int64_t i = given < 0 ? given + bound : given;
      const bool is_inside = i >= 0 && i < bound;
      if (!is_inside) async_report_index(launch->record, launch->site, given, bound);
      for (int64_t b = 0; b < block; ++b) {
        *y++ = !is_inside ? 0 : from[is_uniform ? 0 : (o * bound + i) * block + b];
      }
    }
  }
}

PREPARE(prepare_gather) {
  tenon_gather_attrs attrs = TENON_GATHER_ATTRS_DEFAULT;
  tenon_kernel_p made = {.run = run_gather};
  (void)out_reason;
  if (request->attrs) { /* A host older than this plugin sends a shorter struct. */
    const uint32_t given = *(const uint32_t*)request->attrs;
    memcpy(&attrs, request->attrs, given < sizeof attrs ? given : sizeof attrs);
  }
  made.axis = (size_t)(attrs.axis < 0 ? attrs.axis + request->inputs[0].rank : attrs.axis);
  return prepared(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits);
}

/* ---- loops -------------------------------------------------------------------------------------
 */

static float evaluate(uint32_t op, float a, float b) {
  switch (op) {
    case TENON_OP_neg:
      return -a;
    case TENON_OP_abs:
      return fabsf(a);
    case TENON_OP_add:
      return a + b;
    case TENON_OP_sub:
      return a - b;
    default:
      return a * b;
  }
}

/* Runs a loop. An output may alias an input, because element i of every input is read before
 * element i of an output is written, and not again. */
static void run_loop(const tenon_kernel_p* self, const tenon_launch* launch) {
  float values[kMaxInputs + kMaxInstructions];
  const int64_t n = count(&launch->outputs[0]);
  for (int64_t i = 0; i < n; ++i) {
    uint32_t next = 0;
    for (uint32_t k = 0; k < launch->n_inputs; ++k) {
      const tenon_view* x = &launch->inputs[k];
      values[next++] = ((const float*)x->data)[x->strides_class == TENON_STRIDES_UNIFORM ? 0 : i];
    }
    for (uint32_t k = 0; k < self->n_instructions; ++k) {
      const async_instruction* each = &self->instructions[k];
      values[next++] = evaluate(each->op, values[each->inputs[0]], values[each->inputs[1]]);
    }
    for (uint32_t k = 0; k < launch->n_outputs; ++k) {
      ((float*)launch->outputs[k].data)[i] = values[self->outputs[k]];
    }
  }
}

enum { kLoopFlags = TENON_KERNEL_MAY_ALIAS | TENON_KERNEL_DETERMINISTIC };

PREPARE(prepare_elementwise) {
  tenon_kernel_p made = {.run = run_loop, .n_instructions = 1};
  (void)out_reason;
  made.instructions[0].op = request->line->op;
  made.instructions[0].inputs[1] = request->n_inputs > 1 ? 1 : 0;
  made.outputs[0] = (uint32_t)request->n_inputs;
  return prepared(device, &made, kLoopFlags, out_kernel, out_traits);
}

/* Returns why a loop is not supported. The reason is static text, because the host reads it after
 * the call. */
static const char* reason_against(const tenon_loop_request* request) {
  if (request->row_axes != 0) return "has no loops over rows";
  if (request->n_inputs > kMaxInputs || request->n_instructions > kMaxInstructions) {
    return "has loops of at most 16 inputs and 16 instructions";
  }
  for (size_t i = 0; i < request->n_inputs + request->n_instructions; ++i) {
    if (async_loop_dtype(request, i) != TENON_FLOAT32) return "has loops of f32 only";
  }
  return NULL;
}

/* Prepares a loop. The kernel copies the instructions of the request, which are valid only during
 * the call. */
tenon_error* async_prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                                tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                                tenon_string* out_reason) {
  tenon_kernel_p made = {.run = run_loop};
  const char* reason = reason_against(request);
  if (reason) {
    *out_reason = tenon_str(reason);
    return NULL;
  }
  made.n_instructions = (uint32_t)request->n_instructions;
  for (size_t i = 0; i < request->n_instructions; ++i) {
    const tenon_loop_instruction* given = &request->instructions[i];
    async_instruction* own = &made.instructions[i];
    own->op = given->line->op;
    own->inputs[0] = given->inputs[0];
    own->inputs[1] = given->inputs[given->n_inputs > 1 ? 1 : 0];
  }
  for (size_t i = 0; i < request->n_outputs; ++i) made.outputs[i] = request->outputs[i];
  return prepared(device, &made, kLoopFlags, out_kernel, out_traits);
}

/* ---- the list ----------------------------------------------------------------------------------
 */

#define LINE(op, signature, attrs_size, prepare) \
  { TENON_OP_##op, attrs_size, TENON_STR(signature), TENON_STR(""), prepare }

const tenon_kernel async_kernels[] = {
    LINE(copy, "T->T T:any", 0, prepare_copy),
    LINE(fill, "T->T T:any", sizeof(tenon_fill_attrs), prepare_fill),
    LINE(gather, "f32,I->f32 I:i32,i64", sizeof(tenon_gather_attrs), prepare_gather),
    LINE(neg, "f32->f32 LOOP", 0, prepare_elementwise),
    LINE(abs, "f32->f32 LOOP", 0, prepare_elementwise),
    LINE(add, "f32,f32->f32 LOOP", 0, prepare_elementwise),
    LINE(sub, "f32,f32->f32 LOOP", 0, prepare_elementwise),
    LINE(mul, "f32,f32->f32 LOOP", 0, prepare_elementwise),
};

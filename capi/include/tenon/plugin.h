/* tenon/plugin.h - the interface that a device plugin implements.
 *
 * A plugin is a shared library that exports one symbol, the query function declared at the end of
 * this file, and imports no symbols of Tenon. The host passes it a table of host functions. The
 * plugin returns its identity, its functions (plugin_slots.def) and the list of its kernels.
 *
 * The life of a plugin: query -> create an instance -> open devices -> allocate buffers, open
 * streams, prepare kernels, launch them -> close everything in reverse. Libraries are never
 * unmapped, so code and static data stay valid until the process ends.
 *
 * Everything here is plain C data. No function may throw or exit. Structs that begin with
 * `struct_size` may grow at their end: do not read fields beyond that size, and use the defaults of
 * missing fields. The other structs are frozen and have reserved words, which are zero.
 *
 * Start from plugins/null, the template that `./dev new plugin NAME` copies.
 */

#ifndef TENON_PLUGIN_H_
#define TENON_PLUGIN_H_

#include <tenon/features.h>
#include <tenon/op_attrs_gen.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- handles of the plugin, which are opaque to the host ----------------------------------------
 */

typedef struct tenon_instance_p tenon_instance_p;
typedef struct tenon_device_p tenon_device_p;
typedef struct tenon_buffer_p tenon_buffer_p;
typedef struct tenon_stream_p tenon_stream_p;
typedef struct tenon_event_p tenon_event_p;
typedef struct tenon_kernel_p tenon_kernel_p;
typedef struct tenon_recording_p tenon_recording_p;

/* ---- the host's table ---------------------------------------------------------------------------
 */

/* Host functions that a plugin may call from any thread. A pointer beyond `struct_size` is absent;
 * the accessors of plugins/sdk check that. */
typedef struct tenon_host {
  uint32_t struct_size;
  uint32_t reserved;
  tenon_features provides;
  tenon_features requires_of_plugin;

  /* Creates an error for the plugin to return or release. Copies `message`. */
  tenon_error* (*make_error)(tenon_code code, tenon_string message);
  /* Releases an error that the plugin does not return. */
  void (*release_error)(tenon_error* error TENON_OWNED TENON_NULLABLE);
  /* The code and the message of an error; the message stays valid as long as the error. */
  tenon_code (*error_code)(const tenon_error* error TENON_NULLABLE);
  tenon_string (*error_message)(const tenon_error* error TENON_NULLABLE);

  /* Writes to the log of the context identified by `log_context` (see tenon_instance_options). */
  void (*log)(void* log_context TENON_BORROWED, int32_t level, tenon_string message);

  /* Reports that an enqueued launch has failed. (An index out of range is not a failure; see
   * tenon_error_record.) The outputs of the launch become invalid, and calls that use them return
   * `error`, which the host takes ownership of. Must be called before any `notify` or `wait`
   * completes for that launch. `work` and `ticket` are those of the launch. */
  void (*launch_failed)(void* work TENON_BORROWED, uint64_t ticket, tenon_error* error TENON_OWNED);
} tenon_host;

/* ---- devices ------------------------------------------------------------------------------------
 */

typedef struct tenon_instance_options {
  uint32_t struct_size;
  uint32_t threads;                 /* Maximum number of compute threads; 0 for one per core. */
  void* log_context TENON_BORROWED; /* First argument for the host's `log`. */
  /* `n_options` key-value pairs, as the program passed them to the context for this plugin. The
   * plugin must refuse unknown keys. */
  const tenon_string* option_keys TENON_BORROWED TENON_COUNT(n_options);
  const tenon_string* option_values TENON_BORROWED TENON_COUNT(n_options);
  size_t n_options;
} tenon_instance_options;

/* Properties of a device. The host sets struct_size and zeroes the rest. Strings must stay valid
 * as long as the device. */
typedef struct tenon_device_properties {
  uint32_t struct_size;
  int32_t kind;
  tenon_string description; /* Human-readable: the name of the processor or board. */
  tenon_string vendor;
  tenon_string driver;       /* The driver or the library, with its version; may be empty. */
  tenon_features features;   /* The plugin's features that this device supports. */
  uint64_t memory_bytes;     /* Size of the device's memory in bytes; 0: unknown. */
  uint64_t max_buffer_bytes; /* Maximum size of a buffer in bytes; 0: no limit. */
  uint32_t compute_units;    /* Number of cores or multiprocessors; 0: unknown. */
  uint32_t vector_bits;      /* Width of the SIMD unit in use, in bits; 0: none. */
  uint8_t uuid[16];          /* UUID of the device; all zeros: none. */
  /* Maximum extent in bytes, from the first to the last byte of an operand, that a kernel can
   * access; 0: no limit. The host requests loops over rows and epilogues of anchors only if no
   * operand exceeds this limit. In elementwise loops and in single launches, operands may exceed
   * it. */
  uint64_t max_operand_bytes;
} tenon_device_properties;

typedef struct tenon_memory_statistics {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t allocated_bytes; /* Total size of the buffers that the host has not released. */
  uint64_t peak_bytes;      /* Maximum of allocated_bytes so far. */
  uint64_t allocations;     /* Number of successful calls of `allocate`. */
} tenon_memory_statistics;

/* ---- memory -------------------------------------------------------------------------------------
 */

/* Source or destination of a copy: in a buffer or, if `buffer` is NULL, at a host address. The
 * layout is frozen. */
typedef struct tenon_place {
  tenon_buffer_p* buffer TENON_NULLABLE;
  void* host TENON_BORROWED TENON_NULLABLE;
  uint64_t offset; /* Offset in bytes from the start of the buffer or from `host`. */
  uint64_t reserved;
} tenon_place;

/* A copy of `size` bytes. Source and destination may each be on the stream's device or the host.
 * With the feature PEER_COPY, the source may also be on another device of the instance. The layout
 * is frozen. */
typedef struct tenon_copy_region {
  tenon_place from;
  tenon_place to;
  uint64_t size;
  uint64_t reserved;
} tenon_copy_region;

/* A fill of `size` bytes with a pattern of 1, 2, 4 or 8 bytes; `pattern_size` divides `size`.
 * The layout is frozen. */
typedef struct tenon_fill_region {
  tenon_buffer_p* buffer;
  uint64_t offset;
  uint64_t size;
  uint64_t pattern;
  uint32_t pattern_size;
  uint32_t reserved;
} tenon_fill_region;

/* ---- kernels ------------------------------------------------------------------------------------
 */

/* The memory layout of an operand, as far as kernels distinguish it. */
typedef uint16_t tenon_stride_class;
enum {
  TENON_STRIDES_DENSE = 0,   /* Row-major without gaps. */
  TENON_STRIDES_UNIFORM = 1, /* One element for all indices: zero strides, or by value. */
  TENON_STRIDES_STRIDED = 2, /* Any strides, including zero and negative ones. */
  TENON_STRIDES_ABSENT = 3   /* An optional operand that is absent. */
};

/* Describes an operand in `prepare`. The layout is frozen. */
typedef struct tenon_operand {
  tenon_dtype dtype; /* The dtype; TENON_DTYPE_NONE if the operand is absent. */
  uint16_t rank;
  tenon_stride_class strides;
  /* The sizes, if the kernel's signature is marked SHAPED; otherwise NULL. */
  const int64_t* sizes TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank);
  uint64_t reserved;
} tenon_operand;

struct tenon_kernel;

enum {
  /* Results are bitwise determined by values, shapes, dtypes and attributes. */
  TENON_REQUEST_STRICT = 1 << 0,
  TENON_REQUEST_DETERMINISTIC = 1 << 1 /* Results repeat bitwise. Implied by STRICT. */
};

/* The request that `prepare` receives. Valid during the call. */
typedef struct tenon_kernel_request {
  uint32_t struct_size;
  uint32_t flags;
  const struct tenon_kernel* line TENON_COUNT(1); /* The plugin's line to prepare. */
  /* `tenon_<op>_attrs`, or a custom op's attribute struct. */
  const void* attrs TENON_BORROWED TENON_NULLABLE;
  size_t n_inputs;
  size_t n_outputs;
  const tenon_operand* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  const tenon_operand* outputs TENON_BORROWED TENON_COUNT(n_outputs);
} tenon_kernel_request;

enum {
  /* Inputs may be STRIDED. Without this flag the host passes only DENSE and UNIFORM inputs. */
  TENON_KERNEL_STRIDED_INPUTS = 1 << 0,
  /* Each output may alias an input of the same type and strides that has no other user. */
  TENON_KERNEL_MAY_ALIAS = 1 << 1,
  TENON_KERNEL_DETERMINISTIC = 1 << 2,
  /* The host calls `workspace` before each launch. Without this flag launches have no workspace. */
  TENON_KERNEL_WORKSPACE = 1 << 3,
  /* Like MAY_ALIAS, but only output 0 may alias an input. */
  TENON_KERNEL_FIRST_MAY_ALIAS = 1 << 4
};

/* Properties of a prepared kernel. The host sets struct_size and zeroes the rest. */
typedef struct tenon_kernel_traits {
  uint32_t struct_size;
  uint32_t flags;
} tenon_kernel_traits;

/* clang-format off */
/* One entry ("line") of a plugin's kernel list: a kernel for an op by id, or for a custom op by id
 * 0 and name. The host tries the lines of an op in order and takes the first that does not refuse.
 * The grammar of signatures:
 *
 *   signature = operands "->" operands { " " class } [ " SHAPED" | " LOOP" | " ANCHOR" ]
 *   operands  = [ operand { "," operand } ]
 *   operand   = ( dtype | letter ) [ "?" | "*" ]    ?: may be absent   *: any number, the last one
 *   class     = letter ":" member { "," member }
 *   member    = dtype | "float" | "int" | "uint" | "any"
 *   dtype     = "bool" | "i8" .. "i64" | "u8" .. "u64" | "f16" | "bf16" | "f32" | "f64" | "f128"
 *   letter    = "A" .. "Z"
 *
 * `float` is f16 bf16 f32 f64; `int` is i8 to i64 and u8 to u64; `uint` is u8 to u64. `any` is
 * these and bool; a line must name f128 explicitly. Kernels never receive storage dtypes, such as
 * TENON_INT4: the host passes u8 instead if an op only moves elements. A letter stands for the same dtype
 * wherever it occurs. Several blanks count as one. LOOP: an elementwise op or a reduction that may
 * be an instruction of a loop (tenon_loop_request). Such an op has one output and no optional operands.
 * ANCHOR: an op with one output that may be the anchor of a loop, such as a matmul; the loop is its
 * epilogue.
 *
 * The host steps through the list by tenon_plugin.kernel_size, so the struct may grow. */
/* clang-format on */
typedef struct tenon_kernel {
  uint32_t op;         /* TENON_OP_<name>; 0 for a custom op. */
  uint32_t attrs_size; /* sizeof(tenon_<op>_attrs) when the plugin was built; 0 for none. */
  tenon_string signature;
  tenon_string name; /* The name of a custom op; otherwise empty. */

  /* Prepares a kernel for these dtypes, ranks, stride classes and attributes, or refuses. To
   * refuse, it returns NULL with *out_kernel NULL and, optionally, a reason in *out_reason: static
   * text that messages append to the device's name, such as "supports strides, pads and window
   * extents of at most 2^28 only". The reason "out of memory" is reported as TENON_OUT_OF_MEMORY,
   * and later calls try again. Sizes are unknown unless the signature is marked SHAPED. The host
   * caches the kernel for many launches, so time-consuming work should be done here. */
  tenon_error* (*prepare)(tenon_device_p* device, const tenon_kernel_request* request,
                          tenon_kernel_p** out_kernel TENON_OWNED, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason TENON_BORROWED);
} tenon_kernel;

/* ---- loops --------------------------------------------------------------------------------------
 * A loop is a fused kernel: a list of calls over the same elements, of which only the loop's
 * outputs are written to memory. The host fuses consecutive calls of a function into loops.
 *
 * A kernel of `prepare_loop` has a workspace only if it has an anchor.
 *
 * A loop may be the epilogue of an anchor kernel (`anchor`), such as a matmul: the loop consumes
 * the elements of the anchor's output as they are computed. The anchor is not an instruction of the
 * loop. Such a loop has no rows.
 *
 * Values are numbered: first the inputs of the loop, then the output of the anchor, if any, then
 * the results of the instructions, in order. Every value must be bitwise equal to the result of its
 * op's own kernel: it is rounded to its dtype, nothing is contracted, and sums keep their order.
 *
 * A loop may iterate over rows. A row consists of the elements along `row_axes`, in row-major
 * order; there is one row for each index along the other axes. A value is then per element or per
 * row, and a reduction computes a per-row value from a per-element value. Such a loop has stages.
 * A stage is a pass over a row's elements that ends in reductions; later stages read the results.
 * The host requests at most four stages with at most four reductions each. */

/* Flags of a loop instruction. */
enum {
  /* The instruction computes a per-row value. If it is elementwise, it reads only per-row values
   * and UNIFORM inputs. Instructions without this flag may also read per-row values, which are
   * broadcast to the row's elements. */
  TENON_LOOP_PER_ROW = 1 << 0,
  /* A reduction of a per-element value to a per-row value (PER_ROW is set as well). Its attributes
   * hold the row's axes, counted from the front, and `keepdims`. */
  TENON_LOOP_REDUCES = 1 << 1
};

/* One instruction of a loop. Valid as long as the request. The layout is frozen. */
typedef struct tenon_loop_instruction {
  const struct tenon_kernel* line TENON_COUNT(1);  /* A line of the plugin, marked LOOP. */
  const void* attrs TENON_BORROWED TENON_NULLABLE; /* Attributes, as in tenon_kernel_request. */
  const uint32_t* inputs TENON_BORROWED TENON_COUNT(n_inputs); /* Numbers of the operands. */
  uint32_t n_inputs;
  tenon_dtype dtype; /* The dtype of the result. */
  uint32_t flags;    /* TENON_LOOP_PER_ROW and TENON_LOOP_REDUCES. */
  uint32_t reserved;
} tenon_loop_instruction;

/* The request that `prepare_loop` receives. Valid during the call. A plugin may refuse any request;
 * the host then launches the calls one by one, or in smaller loops. */
typedef struct tenon_loop_request {
  uint32_t struct_size;
  uint32_t flags; /* A bit set of TENON_REQUEST_*. */
  size_t n_inputs;
  size_t n_instructions;
  size_t n_outputs;
  /* The inputs. All have the loop's rank; smaller ones are already broadcast by zero strides. */
  const tenon_operand* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  const tenon_loop_instruction* instructions TENON_BORROWED TENON_COUNT(n_instructions);
  /* Numbers of the values to write: results of the anchor and of instructions, each at most
   * once. */
  const uint32_t* outputs TENON_BORROWED TENON_COUNT(n_outputs);
  uint32_t row_axes; /* Bit i is set if rows extend along axis i. 0: no rows. */
  /* Number of per-row inputs, which come last. In a launch, per-row inputs and outputs have size 1
   * along the row's axes. All other inputs and outputs have the sizes of input 0, which is per
   * element if there are rows. */
  uint32_t n_row_inputs;
  /* The anchor kernel, or NULL for none. Its line is marked ANCHOR, and its output has the loop's
   * rank and sizes. A launch has the anchor's inputs first, then the loop's, and as much workspace
   * as the anchor alone needs. */
  const tenon_kernel_request* anchor TENON_NULLABLE TENON_COUNT(1);
} tenon_loop_request;

/* ---- launches -----------------------------------------------------------------------------------
 */

/* An operand of a launch. Inputs of elementwise kernels are already broadcast: each has the rank
 * and sizes of output 0, with stride 0 along broadcast axes. In a loop over rows, see
 * tenon_loop_request. The layout is frozen. */
typedef struct tenon_view {
  /* NULL if the operand is absent or passed by value. `data` points to a by-value element. */
  tenon_buffer_p* buffer TENON_NULLABLE;
  uint64_t byte_offset; /* Offset of the first element in the buffer. */
  /* The address of the first element if the device is HOST_VISIBLE or the operand is by value; else
   * NULL. */
  void* data TENON_BORROWED TENON_NULLABLE;
  const int64_t* sizes TENON_BORROWED TENON_COUNT(rank);
  const int64_t* strides TENON_BORROWED TENON_COUNT(rank); /* Strides in elements. */
  tenon_dtype dtype;
  uint16_t rank;
  tenon_stride_class strides_class;
  /* Identifies the elements of an input, so that kernels may keep what they derive from weights.
   * Views on a device with equal non-zero `content`, offset, sizes, strides and dtype have equal
   * elements. 0: unknown. */
  uint64_t content;
} tenon_view;

/* Memory in which kernels report an index out of range. The first writer wins: it atomically
 * changes `state` from 0 to 1 and then writes the other fields. The layout is frozen. */
typedef struct tenon_error_record {
  uint32_t state;
  uint32_t site;
  int64_t index;
  int64_t bound;
} tenon_error_record;

/* One launch. Valid during the call. */
typedef struct tenon_launch {
  uint32_t struct_size;
  uint32_t site; /* Value that kernels write to `site` of the error record. */
  uint32_t n_inputs;
  uint32_t n_outputs;
  const tenon_view* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  const tenon_view* outputs TENON_BORROWED TENON_COUNT(n_outputs);
  tenon_view workspace; /* Scratch memory: TENON_UINT8, rank 0, 64-byte aligned. */
  uint64_t workspace_size;
  /* The error record as a buffer and an offset in bytes. Used by devices that are not
   * HOST_VISIBLE. */
  tenon_buffer_p* record_buffer TENON_NULLABLE;
  uint64_t record_offset;
  /* The error record as an address. Used by devices that are HOST_VISIBLE. A launch may set both
   * `record_buffer` and `record`. */
  tenon_error_record* record TENON_NULLABLE TENON_COUNT(1);
  /* Arguments for the host's `launch_failed`. `work` is NULL on a SYNCHRONOUS device. */
  void* work TENON_BORROWED TENON_NULLABLE;
  uint64_t ticket;
} tenon_launch;

/* ---- recordings ---------------------------------------------------------------------------------
 * A recording is a sequence of launches that is submitted as a whole and replayed many times, like
 * a CUDA graph or a Vulkan command buffer. The host uses recordings only on devices that are not
 * SYNCHRONOUS.
 *
 * A recording fixes kernels, sizes, strides and the order of launches. Each replay specifies the
 * memory (by numbered slots), the values of by-value operands, and the error record. A replay has
 * the same effect as the individual launches in order, even if several slots are the same memory.
 */

enum {
  TENON_OPERAND_FIXED = 0,   /* The operand is absent, or every replay uses the recorded memory. */
  TENON_OPERAND_IN_SLOT = 1, /* The operand starts at byte `offset` of slot `number`. */
  TENON_OPERAND_BY_VALUE = 2 /* The operand is element `number` of tenon_replay.values. */
};

/* Location of an operand of a recorded launch. The layout is frozen. */
typedef struct tenon_recorded_operand {
  uint32_t kind; /* A TENON_OPERAND_* constant. */
  uint32_t number;
  uint64_t offset;
} tenon_recorded_operand;

/* One launch of a recording. Valid during the call. The layout is frozen. */
typedef struct tenon_recorded_launch {
  tenon_kernel_p* kernel; /* The kernel, which outlives the recording. */
  /* The launch with its current memory and values, for plugins that record a launch by capturing
   * it. `work` and `ticket` are specified by each replay. */
  const tenon_launch* launch TENON_COUNT(1);
  /* The operands: inputs, outputs and, if workspace_size is not 0, the workspace. */
  const tenon_recorded_operand* operands TENON_BORROWED TENON_COUNT(n_operands);
  uint64_t n_operands;
} tenon_recorded_launch;

/* The request that `record` receives. Valid during the call. */
typedef struct tenon_record_request {
  uint32_t struct_size;
  uint32_t reserved;
  size_t n_launches;
  size_t n_slots;
  size_t n_values;
  const tenon_recorded_launch* launches TENON_BORROWED TENON_COUNT(n_launches);
} tenon_record_request;

/* The memory of a slot. Its start address modulo 64 is the same in every replay as during
 * recording. A slot that no operand uses is empty. The layout is frozen. */
typedef struct tenon_slot {
  tenon_buffer_p* buffer TENON_NULLABLE;
  uint64_t byte_offset;
  void* data TENON_BORROWED TENON_NULLABLE; /* Address of the slot if the device is HOST_VISIBLE. */
  uint64_t reserved;
} tenon_slot;

/* Storage for one by-value element, which starts at the first byte. The layout is frozen. */
typedef struct tenon_element {
  uint64_t words[2];
} tenon_element;

/* One replay of a recording. Valid during the call. Other replays may be enqueued while it runs. */
typedef struct tenon_replay {
  uint32_t struct_size;
  uint32_t reserved;
  size_t n_slots;
  size_t n_values;
  const tenon_slot* slots TENON_BORROWED TENON_COUNT(n_slots);
  const tenon_element* values TENON_BORROWED TENON_COUNT(n_values);
  /* The fields below are as in tenon_launch and apply to all launches of the replay. If a launch
   * fails, the replay fails. */
  tenon_buffer_p* record_buffer TENON_NULLABLE;
  uint64_t record_offset;
  tenon_error_record* record TENON_NULLABLE TENON_COUNT(1);
  void* work TENON_BORROWED TENON_NULLABLE;
  uint64_t ticket;
} tenon_replay;

/* ---- tasks -------------------------------------------------------------------------------------
 */

/* Host tasks that a device runs on its threads. Valid during the call. The layout is frozen. */
typedef struct tenon_tasks {
  /* Called once for each i less than `n`, on any thread, possibly concurrently. */
  void (*run)(void* payload, size_t i);
  void* payload TENON_BORROWED TENON_NULLABLE;
  size_t n;
} tenon_tasks;

/* ---- the plugin ---------------------------------------------------------------------------------
 */

typedef struct tenon_plugin_calls {
  uint32_t struct_size;
  uint32_t reserved;
#define TENON_SLOT(result, name, parameters) result(*name) parameters;
#include <tenon/plugin_slots.def>
} tenon_plugin_calls;

typedef struct tenon_plugin {
  uint32_t struct_size;
  uint32_t reserved;
  tenon_string name;    /* [a-z][a-z0-9_]*. The plugin's devices are NAME:0, NAME:1, ... */
  tenon_string version; /* The plugin's version, for display. */
  tenon_features provides;
  tenon_features requires_of_host;

  /* Creates an instance of the plugin. Each context has its own instance. */
  tenon_error* (*create)(const tenon_host* host, const tenon_instance_options* options,
                         tenon_instance_p** out_instance TENON_OWNED);
  const tenon_plugin_calls* calls;
  const tenon_kernel* kernels TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_kernels);
  size_t n_kernels;
  size_t kernel_size; /* sizeof(tenon_kernel) when the plugin was built. */
} tenon_plugin;

/* Name of the query function. It contains the ABI epoch: a host of another epoch looks up a
 * different name and does not find it. */
#define TENON_PLUGIN_SYMBOL "tenon_plugin_query_v1"

/* Type of the one function that a plugin exports. It returns TENON_UNAVAILABLE, with a reason, if
 * the plugin does not support this machine, and executes only baseline instructions before that
 * check. It may be called several times and from any thread. */
typedef tenon_error* (*tenon_plugin_query)(const tenon_host* host,
                                           const tenon_plugin** out_plugin TENON_BORROWED);

/* Begins the definition of the query function: TENON_PLUGIN_ENTRY(cpu)(const tenon_host* host, ...)
 * { ... }. In a static build each plugin's function has its own name. */
#if defined(TENON_PLUGIN_STATIC)
#define TENON_PLUGIN_ENTRY(plugin) TENON_EXTERN_C tenon_error* tenon_plugin_query_v1_##plugin
#else
#define TENON_PLUGIN_ENTRY(plugin) TENON_EXTERN_C TENON_EXPORT tenon_error* tenon_plugin_query_v1
#endif

TENON_END_DECLS

#endif /* TENON_PLUGIN_H_ */

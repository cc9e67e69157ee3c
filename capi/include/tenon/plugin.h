/* tenon/plugin.h - what a device plugin implements.
 *
 * A plugin is a shared library that exports one symbol, the query function declared at the end of
 * this file, and imports none of ours. The host hands it a table of host calls and gets the
 * plugin's identity, its calls (plugin_slots.def) and the list of kernels that it offers.
 *
 * The life of a plugin: query -> create an instance -> open devices -> allocate buffers, open
 * streams, prepare kernels, launch them -> close everything in reverse. Libraries are never
 * unmapped, so code and static data stay valid for good.
 *
 * Everything here is plain C data. No call may throw or exit. Structs that begin with `struct_size`
 * may grow at their end: read no field beyond the size that you were given, and take the default of
 * those that are missing. The others are frozen and carry reserved words, which are zero.
 *
 * Start from plugins/null, the template that `./dev new plugin NAME` copies.
 */

#ifndef TENON_PLUGIN_H_
#define TENON_PLUGIN_H_

#include <tenon/features.h>
#include <tenon/op_attrs_gen.h>
#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- handles of the plugin: the host never looks inside ----------------------------------------
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

/* What a plugin may ask of the host, from any thread. A pointer beyond `struct_size` is absent; the
 * accessors of plugins/sdk check that. */
typedef struct tenon_host {
  uint32_t struct_size;
  uint32_t reserved;
  tenon_features provides;
  tenon_features requires_of_plugin;

  /* Makes an error that the plugin returns, or releases. Copies `message`. */
  tenon_error* (*make_error)(tenon_code code, tenon_string message);
  /* Frees an error that the plugin does not return. */
  void (*release_error)(tenon_error* error TENON_OWNED TENON_NULLABLE);
  /* What an error says; the text lives as long as the error. */
  tenon_code (*error_code)(const tenon_error* error TENON_NULLABLE);
  tenon_string (*error_message)(const tenon_error* error TENON_NULLABLE);

  /* Writes to the log of the context that `log_context` stands for (see tenon_instance_options). */
  void (*log)(void* log_context TENON_BORROWED, int32_t level, tenon_string message);

  /* Says that a launch which was enqueued has failed (an index out of range is no failure; see
   * tenon_error_record). Its outputs are then worthless, and whoever uses them gets `error`, which
   * the host takes over. Call it before any `notify` or `wait` answers for that launch. `work` and
   * `ticket` are the launch's. */
  void (*launch_failed)(void* work TENON_BORROWED, uint64_t ticket, tenon_error* error TENON_OWNED);
} tenon_host;

/* ---- devices ------------------------------------------------------------------------------------
 */

typedef struct tenon_instance_options {
  uint32_t struct_size;
  uint32_t threads; /* At most this many threads compute at once; 0 for one each core. */
  void* log_context TENON_BORROWED; /* The first argument of the host's `log`. */
  /* `n_options` pairs of text, as the program gave them to the context for this plugin. Refuse the
   * keys that you do not know. */
  const tenon_string* option_keys TENON_BORROWED TENON_COUNT(n_options);
  const tenon_string* option_values TENON_BORROWED TENON_COUNT(n_options);
  size_t n_options;
} tenon_instance_options;

/* The host sets struct_size and zeroes the rest. Strings live as long as the device. */
typedef struct tenon_device_properties {
  uint32_t struct_size;
  int32_t kind;
  tenon_string description; /* What a person calls it: the processor's or board's name. */
  tenon_string vendor;
  tenon_string driver;       /* The driver or the library, with its version; may be empty. */
  tenon_features features;   /* Those of the plugin that this device has. */
  uint64_t memory_bytes;     /* 0: unknown. */
  uint64_t max_buffer_bytes; /* 0: no limit but memory. */
  uint32_t compute_units;    /* Cores, multiprocessors; 0: unknown. */
  uint32_t vector_bits;      /* Of the SIMD unit in use; 0: does not apply. */
  uint8_t uuid[16];          /* Zeros: none. */
  /* What kernels see of an operand, from its first byte to its last; 0: all of it. The host asks
   * for loops over rows and behind heads only where no operand is larger. A loop over elements
   * alone may have larger ones, as its calls may. */
  uint64_t max_operand_bytes;
} tenon_device_properties;

typedef struct tenon_memory_statistics {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t allocated_bytes; /* Held by the host now. */
  uint64_t peak_bytes;      /* The most that it ever was. */
  uint64_t allocations;     /* Calls of `allocate` that succeeded. */
} tenon_memory_statistics;

/* ---- memory -------------------------------------------------------------------------------------
 */

/* A place to copy from or to: in a buffer, or, where `buffer` is NULL, at a host address. Frozen.
 */
typedef struct tenon_place {
  tenon_buffer_p* buffer TENON_NULLABLE;
  void* host TENON_BORROWED TENON_NULLABLE;
  uint64_t offset; /* Bytes, added to either. */
  uint64_t reserved;
} tenon_place;

/* Copies `size` bytes; both places may be on the stream's device or the host. Frozen. */
typedef struct tenon_copy_region {
  tenon_place from;
  tenon_place to;
  uint64_t size;
  uint64_t reserved;
} tenon_copy_region;

/* Fills `size` bytes with a pattern of 1, 2, 4 or 8 bytes that divides it. Frozen. */
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

/* How an operand's elements lie. */
typedef uint16_t tenon_stride_class;
enum {
  TENON_STRIDES_DENSE = 0,   /* Row-major without gaps. */
  TENON_STRIDES_UNIFORM = 1, /* One element stands for all: strides are zero, or it is by value. */
  TENON_STRIDES_STRIDED = 2, /* Any strides, zero and negative ones too. */
  TENON_STRIDES_ABSENT = 3   /* An optional operand that was not given. */
};

/* What `prepare` knows of an operand. Frozen. */
typedef struct tenon_operand {
  tenon_dtype dtype; /* TENON_DTYPE_NONE if absent. */
  uint16_t rank;
  tenon_stride_class strides;
  /* Only for a line that says SHAPED; else NULL. */
  const int64_t* sizes TENON_BORROWED TENON_NULLABLE TENON_COUNT(rank);
  uint64_t reserved;
} tenon_operand;

struct tenon_kernel;

enum {
  TENON_REQUEST_STRICT = 1 << 0, /* The bits depend on values, shapes, dtypes, attributes only. */
  TENON_REQUEST_DETERMINISTIC = 1 << 1 /* Two runs give the same bits. STRICT implies it. */
};

/* What `prepare` is asked for. Valid during the call. */
typedef struct tenon_kernel_request {
  uint32_t struct_size;
  uint32_t flags;
  const struct tenon_kernel* line TENON_COUNT(1);  /* The plugin's own line. */
  const void* attrs TENON_BORROWED TENON_NULLABLE; /* `tenon_<op>_attrs`; a custom op's bytes. */
  size_t n_inputs;
  size_t n_outputs;
  const tenon_operand* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  const tenon_operand* outputs TENON_BORROWED TENON_COUNT(n_outputs);
} tenon_kernel_request;

enum {
  /* Inputs may be STRIDED. Without it the host hands over DENSE and UNIFORM ones only. */
  TENON_KERNEL_STRIDED_INPUTS = 1 << 0,
  /* Each output may lie on an input of the same type and strides that nobody else uses. */
  TENON_KERNEL_MAY_ALIAS = 1 << 1,
  TENON_KERNEL_DETERMINISTIC = 1 << 2,
  /* The host asks `workspace` before each launch. Without it there is none. */
  TENON_KERNEL_WORKSPACE = 1 << 3,
  /* Output 0 may lie on such an input; the others may not. */
  TENON_KERNEL_FIRST_MAY_ALIAS = 1 << 4
};

/* What a prepared kernel says of itself. The host sets struct_size and zeroes the rest. */
typedef struct tenon_kernel_traits {
  uint32_t struct_size;
  uint32_t flags;
} tenon_kernel_traits;

/* clang-format off */
/* One line of what a plugin offers: an op by id, or a custom op by id 0 and name. Lines of one op
 * are asked from the top, and the first that does not refuse is taken. The signature's grammar:
 *
 *   signature = operands "->" operands { " " class } [ " SHAPED" | " LOOP" | " HEAD" ]
 *   operands  = [ operand { "," operand } ]
 *   operand   = ( dtype | letter ) [ "?" | "*" ]    ?: may be absent   *: any number, the last one
 *   class     = letter ":" member { "," member }
 *   member    = dtype | "float" | "int" | "uint" | "any"
 *   dtype     = "bool" | "i8" .. "i64" | "u8" .. "u64" | "f16" | "bf16" | "f32" | "f64" | "f128"
 *   letter    = "A" .. "Z"
 *
 * `float` is f16 bf16 f32 f64, `int` i8 to i64 and u8 to u64, `uint` u8 to u64, `any` every dtype
 * but f128, which a line asks for by name. A letter stands for the same dtype wherever it occurs.
 * More than one blank counts as one. LOOP: an op of one output, none of whose operands may be absent,
 * that may be an instruction of a loop (tenon_loop_request): an elementwise one or a reduction.
 * HEAD: an op of one output that a loop may go behind, such as a product of matrices.
 *
 * The host strides by the list's element_size, so the struct may grow. */
/* clang-format on */
typedef struct tenon_kernel {
  uint32_t op;         /* TENON_OP_<name>, or 0. */
  uint32_t attrs_size; /* sizeof(tenon_<op>_attrs) when the plugin was built; 0 for none. */
  tenon_string signature;
  tenon_string name; /* Of a custom op; else empty. */

  /* Makes a kernel ready for these dtypes, ranks, stride classes and attributes, or refuses:
   * returns NULL with *out_kernel NULL and, if it likes, a reason in *out_reason: static text that
   * messages put behind the device's name, such as "has no room for such windows". The reason "out
   * of memory" is reported as that error, and later calls ask again. Sizes are unknown unless the
   * signature says SHAPED. The host keeps a kernel for many launches: slow work belongs here. */
  tenon_error* (*prepare)(tenon_device_p* device, const tenon_kernel_request* request,
                          tenon_kernel_p** out_kernel TENON_OWNED, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason TENON_BORROWED);
} tenon_kernel;

/* ---- loops --------------------------------------------------------------------------------------
 * Work in one pass: a list of calls over the same elements, of which only what the loop gives is
 * written to memory. The host makes them of calls that follow one another in a function.
 *
 * What `prepare_loop` makes has no workspace, but behind a head.
 *
 * A loop may go behind a call that is no instruction, its head: over the elements of its value, as
 * they come to be. There are no rows then.
 *
 * Values are numbered: first the inputs of the loop, then the head's value, if there is a head,
 * then what its instructions give, in their order. Every value is what its op's kernel gives, to
 * the bit: it is rounded to its dtype, and nothing is contracted or summed in another order.
 *
 * A loop may go over rows. A row is what lies along `row_axes`, in row-major order; there is one
 * for each place along the other axes. Values are then per element or per row, and reductions lead
 * from the first to the second. So a loop has stages: a pass over a row's elements that ends in
 * reductions, the next pass, which reads what they gave, and so on. The host cuts what it asks for
 * so that there are at most four, with at most four reductions each. */

/* What an instruction is. */
enum {
  /* Its value is per row. An elementwise one reads values per row, and inputs that are UNIFORM; any
   * other instruction may read values per row, too: each of the row's elements sees the same. */
  TENON_LOOP_PER_ROW = 1 << 0,
  /* A reduction: of a value per element it makes one per row (PER_ROW is set as well). Its
   * attributes say the row's axes, counted from the front, and `keepdims`. */
  TENON_LOOP_REDUCES = 1 << 1
};

/* One call. Valid while the request is. Frozen. */
typedef struct tenon_loop_instruction {
  const struct tenon_kernel* line TENON_COUNT(1);  /* The plugin's own line, which says LOOP. */
  const void* attrs TENON_BORROWED TENON_NULLABLE; /* As in tenon_kernel_request. */
  const uint32_t* inputs TENON_BORROWED TENON_COUNT(n_inputs); /* Values from before. */
  uint32_t n_inputs;
  tenon_dtype dtype; /* Of the value that it gives. */
  uint32_t flags;    /* TENON_LOOP_*. */
  uint32_t reserved;
} tenon_loop_instruction;

/* What `prepare_loop` is asked for. Valid during the call. A plugin may refuse what it likes: the
 * calls are launched one by one then, or in smaller loops. */
typedef struct tenon_loop_request {
  uint32_t struct_size;
  uint32_t flags; /* TENON_REQUEST_*. */
  size_t n_inputs;
  size_t n_instructions;
  size_t n_outputs;
  /* All of the loop's rank; one of another shape comes already broadcast, with strides of 0. */
  const tenon_operand* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  const tenon_loop_instruction* instructions TENON_BORROWED TENON_COUNT(n_instructions);
  /* Values that the head and instructions give, each once. */
  const uint32_t* outputs TENON_BORROWED TENON_COUNT(n_outputs);
  uint32_t row_axes; /* Bit i: a row goes along axis i. 0: there are no rows. */
  /* How many of the inputs, the last ones, are per row. At a launch these have size 1 along the
   * row's axes, and so have outputs per row; all others have the sizes of input 0, which is per
   * element if there are rows. */
  uint32_t n_row_inputs;
  /* NULL: none. Its line says HEAD, and its output has the loop's rank and sizes. A launch has the
   * head's inputs first, then the loop's, and as much workspace as the head alone asks for. */
  const tenon_kernel_request* head TENON_NULLABLE TENON_COUNT(1);
} tenon_loop_request;

/* ---- launches -----------------------------------------------------------------------------------
 */

/* An operand of a launch. Elementwise operands come already broadcast: every input has the rank and
 * sizes of output 0, with stride 0 where it repeats; in a loop over rows as its request says.
 * Frozen. */
typedef struct tenon_view {
  /* NULL: by value (`data` points to one element), or absent. */
  tenon_buffer_p* buffer TENON_NULLABLE;
  uint64_t byte_offset; /* Of the first element, within the buffer. */
  /* The address of the first element if the device is HOST_VISIBLE or the operand is by value; else
   * NULL. */
  void* data TENON_BORROWED TENON_NULLABLE;
  const int64_t* sizes TENON_BORROWED TENON_COUNT(rank);
  const int64_t* strides TENON_BORROWED TENON_COUNT(rank); /* In elements. */
  tenon_dtype dtype;
  uint16_t rank;
  tenon_stride_class strides_class;
  uint64_t reserved;
} tenon_view;

/* Where kernels report an index out of range. The first writer wins: it changes `state` from 0 to 1
 * atomically and then writes the rest. Frozen. */
typedef struct tenon_error_record {
  uint32_t state;
  uint32_t site;
  int64_t index;
  int64_t bound;
} tenon_error_record;

/* One launch. Valid during the call. */
typedef struct tenon_launch {
  uint32_t struct_size;
  uint32_t site; /* What to write into the record. */
  uint32_t n_inputs;
  uint32_t n_outputs;
  const tenon_view* inputs TENON_BORROWED TENON_COUNT(n_inputs);
  const tenon_view* outputs TENON_BORROWED TENON_COUNT(n_outputs);
  tenon_view workspace; /* dtype TENON_UINT8, rank 0; 64-byte aligned. */
  uint64_t workspace_size;
  /* The record's place for a device that is not HOST_VISIBLE, */
  tenon_buffer_p* record_buffer TENON_NULLABLE;
  uint64_t record_offset;
  /* and for one that is. Either may be given to both. */
  tenon_error_record* record TENON_NULLABLE TENON_COUNT(1);
  /* For the host's `launch_failed`; NULL on a SYNCHRONOUS device. */
  void* work TENON_BORROWED TENON_NULLABLE;
  uint64_t ticket;
} tenon_launch;

/* ---- recordings ---------------------------------------------------------------------------------
 * Launches that are submitted as one, again and again: a graph, a command buffer. For devices on
 * which work is enqueued; the host asks none that is SYNCHRONOUS.
 *
 * A recording fixes kernels, sizes, strides and the order of launches. Each replay says anew where
 * memory is, by numbered slots, what operands by value hold, and where errors are recorded. It does
 * what launching one after the other does, whatever memory the slots are: two may be the same.
 */

enum {
  TENON_OPERAND_FIXED = 0,   /* As its view says, in every replay: memory that stays, or absent. */
  TENON_OPERAND_IN_SLOT = 1, /* `offset` bytes behind the beginning of slot `number`. */
  TENON_OPERAND_BY_VALUE = 2 /* The value `number` of the replay. */
};

/* Where an operand of a recorded launch is. Frozen. */
typedef struct tenon_recorded_operand {
  uint32_t kind; /* TENON_OPERAND_*. */
  uint32_t number;
  uint64_t offset;
} tenon_recorded_operand;

/* One launch. Valid during the call. Frozen. */
typedef struct tenon_recorded_launch {
  tenon_kernel_p* kernel; /* Outlives the recording. */
  /* As it would be launched now, with the memory and the values of the moment, for plugins that
   * find out what a launch does by capturing one. `work` and `ticket` are a replay's to say. */
  const tenon_launch* launch TENON_COUNT(1);
  /* Of its inputs, its outputs and, where workspace_size is not 0, its workspace. */
  const tenon_recorded_operand* operands TENON_BORROWED TENON_COUNT(n_operands);
  uint64_t n_operands;
} tenon_recorded_launch;

/* What `record` is asked for. Valid during the call. */
typedef struct tenon_record_request {
  uint32_t struct_size;
  uint32_t reserved;
  size_t n_launches;
  size_t n_slots;
  size_t n_values;
  const tenon_recorded_launch* launches TENON_BORROWED TENON_COUNT(n_launches);
} tenon_record_request;

/* The memory that a slot stands for. Where it begins is the same modulo 64 in every replay as it
 * was when the launches were recorded. A slot that no operand is in is empty. Frozen. */
typedef struct tenon_slot {
  tenon_buffer_p* buffer TENON_NULLABLE;
  uint64_t byte_offset;
  void* data TENON_BORROWED TENON_NULLABLE; /* Its address, if the device is HOST_VISIBLE. */
  uint64_t reserved;
} tenon_slot;

/* One element, which is at the beginning. Frozen. */
typedef struct tenon_element {
  uint64_t words[2];
} tenon_element;

/* One replay. Valid during the call. Another may be enqueued while it is under way. */
typedef struct tenon_replay {
  uint32_t struct_size;
  uint32_t reserved;
  size_t n_slots;
  size_t n_values;
  const tenon_slot* slots TENON_BORROWED TENON_COUNT(n_slots);
  const tenon_element* values TENON_BORROWED TENON_COUNT(n_values);
  /* As those of a launch, for all of them. A launch that fails fails the replay. */
  tenon_buffer_p* record_buffer TENON_NULLABLE;
  uint64_t record_offset;
  tenon_error_record* record TENON_NULLABLE TENON_COUNT(1);
  void* work TENON_BORROWED TENON_NULLABLE;
  uint64_t ticket;
} tenon_replay;

/* ---- tasks -------------------------------------------------------------------------------------
 */

/* What a device runs for the host, on its threads. Valid during the call. Frozen. */
typedef struct tenon_tasks {
  /* To be called once with each number below `n`, on any thread, several at a time. */
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
  tenon_string name;    /* Devices are called NAME:0, NAME:1, ...; [a-z][a-z0-9_]*. */
  tenon_string version; /* Of the plugin, for people. */
  tenon_features provides;
  tenon_features requires_of_host;

  /* Makes an instance. Each context has one of its own. */
  tenon_error* (*create)(const tenon_host* host, const tenon_instance_options* options,
                         tenon_instance_p** out_instance TENON_OWNED);
  const tenon_plugin_calls* calls;
  const tenon_kernel* kernels TENON_BORROWED TENON_NULLABLE TENON_COUNT(n_kernels);
  size_t n_kernels;
  size_t kernel_size; /* sizeof(tenon_kernel) when the plugin was built. */
} tenon_plugin;

/* The epoch is in the name: a host of another epoch looks for another symbol and finds none. */
#define TENON_PLUGIN_SYMBOL "tenon_plugin_query_v1"

/* The type of the one function that a plugin exports. It answers UNAVAILABLE, with a reason, where
 * the plugin does not fit this machine, and runs only baseline instructions before that check. It
 * may be called more than once and from any thread. */
typedef tenon_error* (*tenon_plugin_query)(const tenon_host* host,
                                           const tenon_plugin** out_plugin TENON_BORROWED);

/* Declares the entry in its definition: TENON_PLUGIN_ENTRY(cpu)(const tenon_host* host, ...) { ...
 * } A static build names each one apart. */
#if defined(TENON_PLUGIN_STATIC)
#define TENON_PLUGIN_ENTRY(plugin) TENON_EXTERN_C tenon_error* tenon_plugin_query_v1_##plugin
#else
#define TENON_PLUGIN_ENTRY(plugin) TENON_EXTERN_C TENON_EXPORT tenon_error* tenon_plugin_query_v1
#endif

TENON_END_DECLS

#endif /* TENON_PLUGIN_H_ */

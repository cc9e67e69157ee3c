/* One C function for each kind of callback. It calls the imported JavaScript function of
 * native/callbacks.js; the payload is the number of a JavaScript function in src/callbacks.js.
 * Strings are passed by address, because JavaScript reads structs from memory.
 */

#include <emscripten.h>
#include <tenon/tenon.h>

extern tenon_error* tenon_js_block(void*, tenon_scope*, tenon_tensor* const*, size_t,
                                   tenon_tensor**, size_t);
extern tenon_error* tenon_js_tensors(void*, tenon_scope*, tenon_tensor* const*, size_t,
                                     tenon_tensor**, size_t);
extern tenon_error* tenon_js_body(void*, tenon_scope*, tenon_tensor* const*, size_t,
                                  const tenon_static*, size_t, tenon_tensor**, size_t);
extern tenon_error* tenon_js_backward(void*, tenon_scope*, const tenon_backward_args*,
                                      tenon_tensor**, size_t);
extern void tenon_js_done(void*, const tenon_error*);
extern void tenon_js_text(void*, const tenon_string*);
extern void tenon_js_log(void*, int32_t, const tenon_string*);
extern tenon_error* tenon_js_infer(void*, const void*, const tenon_type*, size_t, tenon_type*,
                                   size_t);
extern tenon_error* tenon_js_compute(void*, const void*, const tenon_host_array*, size_t,
                                     const tenon_host_array*, size_t);
extern tenon_error* tenon_js_decompose(void*, tenon_scope*, const void*, tenon_tensor* const*,
                                       size_t, tenon_tensor**, size_t);
extern tenon_error* tenon_js_custom_backward(void*, tenon_scope*, const void*,
                                             const tenon_backward_args*, tenon_tensor**, size_t);
extern void tenon_js_destroy(void*);

static void done(void* payload, const tenon_error* error) { tenon_js_done(payload, error); }
static void text(void* payload, tenon_string value) { tenon_js_text(payload, &value); }
static void log_line(void* payload, int32_t level, tenon_string value) {
  tenon_js_log(payload, level, &value);
}
static void destroy(void* payload) { tenon_js_destroy(payload); }

typedef void (*any_function)(void);

/* Returns the C function for a kind of callback. `kind` is an index in `kinds` of
 * src/callbacks.js. */
EMSCRIPTEN_KEEPALIVE any_function tenon_js_callback(int kind) {
  static const any_function functions[] = {
      (any_function)tenon_js_block,
      (any_function)tenon_js_tensors,
      (any_function)tenon_js_body,
      (any_function)tenon_js_backward,
      (any_function)done,
      (any_function)text,
      (any_function)log_line,
      (any_function)tenon_js_infer,
      (any_function)tenon_js_compute,
      (any_function)tenon_js_decompose,
      (any_function)tenon_js_custom_backward,
      (any_function)destroy,
  };
  return functions[kind];
}

#if defined(TENON_SMALL)
extern void tenon_js_left_out(void);

/* Imports the function that replaces the functions which a small build leaves out
 * (tools/js/leave_out.mjs). It throws. */
EMSCRIPTEN_KEEPALIVE void tenon_left_out(void) { tenon_js_left_out(); }
#endif

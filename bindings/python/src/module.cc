// The extension module tenon._native.
#include "native.h"

NB_MODULE(_native, module) {
  using namespace tenon_python;
  nb::set_leak_warnings(false);  // Modules own objects until the process exits.
  define_tensor(module);
  define_errors(module);
  define_scopes(module);
  define_ops(module);
  define_state(module);
  define_gradients(module);
  define_control(module);
  define_functions(module);
  define_programs(module);
  define_files(module);
  define_profiler(module);
  define_custom(module);
  define_exchange(module);
  define_lists(module);
}

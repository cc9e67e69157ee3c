// Lets catch clauses select exceptions by type in WebAssembly with threads. Clang 14 accesses
// __wasm_lpad_context as a normal variable, but Emscripten's unwinder defines it thread-local. The
// clauses and the unwinder then use different variables, and only catch (...) matches. This file
// replaces the unwinder with one that uses a normal variable.
//
// The variable limits a module to one thread at a time that selects exceptions by type. Here this
// is the thread that calls the C API: the tasks of parallel loops do not catch exceptions by type.

#if defined(__EMSCRIPTEN_PTHREADS__)
#include <unwind.h>

#include <cstdint>

struct _Unwind_Context {
  // Written by a landing pad: its number in the function and the function's table of catch clauses.
  _Unwind_Word landing_pad;
  void* table;
  // Written by the personality function: the number of the clause that matches.
  _Unwind_Word selector;
};

extern "C" {

// Defined by libc++abi.
_Unwind_Reason_Code __gxx_personality_wasm0(int version, _Unwind_Action action, uint64_t language,
                                            _Unwind_Exception* exception, _Unwind_Context* context);

_Unwind_Context __wasm_lpad_context;

// Called by landing pads.
_Unwind_Reason_Code _Unwind_CallPersonality(void* pointer) {
  auto* exception = static_cast<_Unwind_Exception*>(pointer);
  __wasm_lpad_context.selector = 0;
  return __gxx_personality_wasm0(1, _UA_CLEANUP_PHASE, exception->exception_class, exception,
                                 &__wasm_lpad_context);
}

// Called by throw expressions.
_Unwind_Reason_Code _Unwind_RaiseException(_Unwind_Exception* exception) {
  __builtin_wasm_throw(0, exception);
}

// Called at the end of a catch clause.
void _Unwind_DeleteException(_Unwind_Exception* exception) {
  if (exception->exception_cleanup) {
    exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
  }
}

// The personality function calls the following ones. Register 1 is the selector.
void _Unwind_SetGR(_Unwind_Context* context, int index, _Unwind_Word value) {
  if (index == 1) context->selector = value;
}

// The personality function subtracts 1, and counts landing pads from 1.
_Unwind_Word _Unwind_GetIP(_Unwind_Context* context) { return context->landing_pad + 2; }

void _Unwind_SetIP(_Unwind_Context*, _Unwind_Word) {}

void* _Unwind_GetLanguageSpecificData(_Unwind_Context* context) { return context->table; }

uintptr_t _Unwind_GetRegionStart(_Unwind_Context*) { return 0; }

}  // extern "C"
#endif

#include "capi/src/boundary.h"

namespace tenon::capi {

tenon_error* error_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return make_error(error.info());
  } catch (const std::bad_alloc&) {
    return out_of_memory_error();
  } catch (const std::exception& error) {
    return make_error(Code::kInternal, error.what());
  } catch (...) {
    return make_error(Code::kInternal,
                      "internal error: an exception of an unknown type was thrown");
  }
}

}  // namespace tenon::capi

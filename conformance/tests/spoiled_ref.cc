#include "conformance/tests/spoiled_ref.h"

#include "conformance/oracle/oracle.h"
#include "conformance/run/claim_run.h"

namespace tenon_kit {
namespace {

Spoil active = nullptr;

tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch) {
  tenon_error* error = plain_ref().calls->launch(kernel, stream, launch);
  if (!error && active) active(*launch);
  return error;
}

tenon_error* query(const tenon_host*, const tenon_plugin** out_plugin) {
  static tenon_plugin_calls calls = *plain_ref().calls;
  static tenon_plugin plugin = plain_ref();
  calls.launch = launch;
  plugin.calls = &calls;
  *out_plugin = &plugin;
  return nullptr;
}

}  // namespace

const tenon_plugin& plain_ref() {
  static const tenon_plugin* const plugin = [] {
    const tenon_plugin* found = nullptr;
    tenon::check(open_plugin(TENON_TEST_REF)(tenon_host_table(), &found));
    return found;
  }();
  return *plugin;
}

Session session_of_spoiled_ref(Spoil spoil) {
  active = spoil;
  return Session({.device = "ref:0", .query = query});
}

Session session_of_oracle() { return Session({.device = "oracle:0", .query = query_oracle}); }

}  // namespace tenon_kit

// Helpers for tests of functions.

#pragma once

#include <string>

#include "core/dispatch/variable.h"
#include "core/testing/test.h"
#include "core/trace/function.h"
#include "core/trace/graph/text_form.h"

namespace tenon::testing {

class FunctionTest : public CoreTest {
 protected:
  // `plugins`: paths of additional plugins to load.
  explicit FunctionTest(std::vector<std::string> plugins = {})
      : CoreTest(options(log_, std::move(plugins))) {}

  // Creates a function of tensors. `bodies_run` counts how often its body ran.
  template <class Body>
  Ref<Function> function(Body body, FunctionOptions options = {}) {
    return Ref<Function>::adopt(new Function(
        context(), "f",
        [this, body](Scope&, TensorSpan in, const Statics& statics) {
          ++bodies_run;
          if constexpr (std::is_invocable_v<Body, TensorSpan, const Statics&>) {
            return body(in, statics);
          } else {
            return body(in);
          }
        },
        std::move(options)));
  }
  // Calls a function in the test's scope.
  Tensors call(const Ref<Function>& f, std::initializer_list<Tensor> in, Statics statics = {}) {
    return f->call(scope(), Tensors(in), statics);
  }
  // Calls a function and returns its first output.
  Tensor call_one(const Ref<Function>& f, std::initializer_list<Tensor> in, Statics statics = {}) {
    return call(f, in, std::move(statics))[0];
  }
  Ref<Variable> variable(const Tensor& value, const char* name = "w") {
    return Ref<Variable>::adopt(new Variable(scope(), value, name, true));
  }
  // Returns the text of the graph of trace i.
  std::string text(const Ref<Function>& f, size_t i = 0) {
    return to_text(f->traces()[i]->graph());
  }

  int bodies_run = 0;
  std::string log_;

 private:
  // Returns options of a context that appends its log messages to `log`.
  static ContextOptions options(std::string& log, std::vector<std::string> plugins) {
    ContextOptions options;
    options.plugin_paths = std::move(plugins);
    options.log = [&log](int32_t, std::string_view message) { log += std::string(message) + "\n"; };
    return options;
  }
};

}  // namespace tenon::testing

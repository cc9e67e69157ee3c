#include "conformance/run/claim_run.h"

#if !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <stdexcept>

#include "conformance/kit/guard.h"
#include "conformance/oracle/oracle.h"
#include "conformance/report/blame.h"
#include "conformance/run/registry_claims.h"
#include "conformance/run/shrink.h"

#if defined(__EMSCRIPTEN__)
extern "C" tenon_error* tenon_plugin_query_v1_wasm(const tenon_host*, const tenon_plugin**);
#endif

namespace tenon_kit {
namespace {

// Options of the sessions that with_threads() creates. They are global, like the guard, because a
// process has only one Runner.
SessionOptions device_options;

// Returns the session that runs on this number of threads. Creates it on first use.
std::shared_ptr<Session> with_threads(uint32_t threads) {
  static std::map<uint32_t, std::shared_ptr<Session>> sessions;
  std::shared_ptr<Session>& session = sessions[threads];
  if (!session) {
    SessionOptions options = device_options;
    options.threads = threads;
    session = std::make_shared<Session>(options);
  }
  return session;
}

// Level of the gradient checks, which also run ops other than the claim's.
constexpr int kGradientLevel = 4;

// Whether the claimed kernel was prepared. Correct results do not show this, because a
// decomposition may have run.
bool has_kernel(const Claim& claim) {
  const auto first = [](const std::vector<tenon_dtype>& dtypes) {
    return dtypes.empty() ? TENON_DTYPE_NONE : dtypes[0];
  };
  return guard::has_prepared_kernel(claim.op->id, first(claim.inputs), first(claim.outputs));
}

// Whether the plugin refused the call.
bool is_refusal(const tenon::Error& error) { return error.code() == tenon::Code::kUnimplemented; }

// Whether a case has random values. Returns false for isnan and isinf, because their results are
// the same for all random values.
bool is_drawn(const Problem& problem) {
  if (!problem.name.empty() || problem.op->name == "isnan" || problem.op->name == "isinf") {
    return false;
  }
  return std::any_of(problem.inputs.begin(), problem.inputs.end(), [](const Operand& x) {
    return !x.absent && x.fill.kind != Fill::Kind::kValues;
  });
}

// Whether the cases of a cell could have revealed a fault. A registry case may test a single fact,
// such as a zero. Therefore, if there are cases with random values, at least one of them must be
// able to reveal a fault.
struct Trust {
  bool any = false, drawn = false, any_drawn = false;

  void add(const Problem& problem, const Finding& finding) {
    const bool own = is_drawn(problem);
    drawn = drawn || own;
    any = any || finding.trusted;
    any_drawn = any_drawn || (own && finding.trusted);
  }
  // The smoke test draws few cases, so it does not require a trusted case with random values.
  bool is_enough(bool thorough) const { return any && (any_drawn || !drawn || !thorough); }

  std::string message(const Claim& claim) const {
    const bool may_be_plain =
        claim.op->sparse_output || std::any_of(claim.outputs.begin(), claim.outputs.end(), is_bool);
    const std::string cases =
        any ? "no case with random values could reveal a fault: every oracle result is "
            : "no case could reveal a fault: every oracle result is ";
    return cases + (may_be_plain ? "zero, or equal to an input, in more than 90 % of its elements"
                                 : "zero, NaN, infinite or at an end of its dtype's range in more "
                                   "than 30 % of its elements");
  }
};

// Whether a problem has the dtypes of one of these claims.
bool has_dtypes_of_any(const std::vector<Claim>& claims, const Problem& problem,
                       const std::vector<std::pair<tenon_dtype, Sizes>>& outputs) {
  const auto at = [](const std::vector<tenon_dtype>& dtypes, size_t i) {
    return dtypes.empty() ? TENON_DTYPE_NONE : dtypes[std::min(i, dtypes.size() - 1)];
  };
  return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      const Operand& x = problem.inputs[i];
      if (!x.absent && !x.scalar && x.dtype != at(claim.inputs, i)) return false;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].first != at(claim.outputs, i)) return false;
    }
    return true;
  });
}

// The minimum rank of each input over the problems of a check. Shrinking keeps these ranks, because
// the check may rely on them.
std::vector<size_t> min_ranks(const std::vector<Problem>& problems) {
  std::vector<size_t> ranks;
  for (const Problem& problem : problems) {
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      const Operand& x = problem.inputs[i];
      if (i == ranks.size()) ranks.push_back(SIZE_MAX);
      if (!x.absent && !x.scalar) ranks[i] = std::min(ranks[i], x.shape.size());
    }
  }
  return ranks;
}

// Whether each input i has at least rank least[i].
bool has_ranks(const Problem& problem, const std::vector<size_t>& least) {
  for (size_t i = 0; i < problem.inputs.size() && i < least.size(); ++i) {
    const Operand& x = problem.inputs[i];
    if (!x.absent && !x.scalar && x.shape.size() < least[i]) return false;
  }
  return true;
}

// Whether the problem runs without an error.
bool runs(const Session& session, const Problem& problem) {
  try {
    session.run(problem);
    return true;
  } catch (const tenon::Error&) {
    return false;
  }
}

// Runs a failing problem again. Returns the ops, other than its own, whose kernels it launches.
std::vector<std::string> other_launched_ops(const Check& check, const Environment& env,
                                            const Problem& problem) {
  guard::start_listing_launches();
  try {
    check.test(env, problem);
  } catch (const std::exception&) {
    // The launches before the failure are listed, too.
  }
  std::vector<std::string> ops = guard::take_launched_ops();
  std::erase(ops, problem.op->name);
  return ops;
}

// Returns how many smaller problems to try: `most`, but at most 60 for inputs of 2^17 elements or
// more, and 0 for inputs of 2^21 elements or more.
int max_shrink_tries(const Problem& problem, int most) {
  int64_t n = 0;
  for (const Operand& x : problem.inputs) n += x.absent || x.scalar ? 1 : count_of(x.shape);
  return n >= 1 << 21 ? 0 : n >= 1 << 17 ? std::min(most, 60) : most;
}

// Runs the check on one problem. Reports an error as a fault, but rethrows a refusal by the plugin.
Finding test_one(const Check& check, const Environment& env, const Problem& problem) {
  try {
    return check.test(env, problem);
  } catch (const tenon::Error& error) {
    if (is_refusal(error)) throw;
    Finding finding = Finding::fault("the call failed: " + std::string(error.message()));
    finding.threw = true;
    return finding;
  }
}

}  // namespace

#if defined(__EMSCRIPTEN__)
// Plugins are linked into the program.
tenon_plugin_query open_plugin(const std::string& name) {
  if (name != "wasm") throw std::runtime_error("there is no plugin \"" + name + "\", only wasm");
  return tenon_plugin_query_v1_wasm;
}
#else
tenon_plugin_query open_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  void* symbol = dlsym(library, TENON_PLUGIN_SYMBOL);
  if (!symbol) throw std::runtime_error(path + " exports no " + TENON_PLUGIN_SYMBOL);
  tenon_plugin_query query;
  std::memcpy(&query, &symbol, sizeof query);
  return query;
}
#endif

Runner::Runner(const RunOptions& options) : options_(options) {
  guard::set_guarded_plugin(open_plugin(options.plugin));
  const tenon_plugin* plugin = nullptr;
  tenon::check(guard::query()(tenon_host_table(), &plugin));
  claims_ = read_claims(guard::plugin());
  if (options_.device.empty()) {
    options_.device = std::string(plugin->name.data, plugin->name.size) + ":0";
  }
  device_options = {.device = options_.device,
                    .query = guard::query(),
                    .strict = options.profile == Profile::kStrict,
                    .plugin_options = options.plugin_options};
  device_ = std::make_unique<Session>(device_options);
  oracle_ = std::make_unique<Session>(SessionOptions{.device = "oracle:0", .query = query_oracle});
  add_unclaimed(*oracle_, claims_);
  environment_ = std::make_unique<Environment>(Environment{
      .device = *device_,
      .oracle = *oracle_,
      .profile = options.profile,
      .features = device_->scope().device().info().features,
      .thorough = options.thorough,
      .large = options.large,
      .seed = options.seed,
      .with_threads = with_threads,
  });
}

const tenon_plugin& Runner::plugin() const { return guard::plugin(); }

// Returns the indices of the checks that apply to a claim.
std::vector<size_t> Runner::checks_of(const Claim& claim) const {
  std::vector<size_t> found;
  const std::vector<Check>& checks = all_checks();
  const Check* const unclaimed = find_check(kUnclaimedCheck);
  for (size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].level > options_.level) continue;
    const bool is_own = claim.claimed != (&checks[i] == unclaimed);
    if (!is_own && !(checks[i].of_unclaimed && options_.thorough)) continue;
    if (!options_.check.empty() && options_.check != checks[i].name) continue;
    if (checks[i].applies(*environment_, claim)) found.push_back(i);
  }
  return found;
}

// Returns the claims of the same op to which the check applies.
std::vector<Claim> Runner::claims_for(const Check& check, const Claim& claim) const {
  std::vector<Claim> found;
  for (const Claim& other : claims_.rows) {
    if (other.op != claim.op || other.claimed != claim.claimed) continue;
    if (check.applies(*environment_, other)) found.push_back(other);
  }
  std::stable_sort(found.begin(), found.end(), is_simpler);
  return found;
}

// Whether the claim contains float64 and the device lacks it.
static bool needs_absent_dtype(const Claim& claim, tenon_features device) {
  const auto is_float64 = [](tenon_dtype dtype) { return dtype == TENON_FLOAT64; };
  return (device & TENON_FEATURE_FLOAT64) == 0 &&
         (std::any_of(claim.inputs.begin(), claim.inputs.end(), is_float64) ||
          std::any_of(claim.outputs.begin(), claim.outputs.end(), is_float64));
}

Row Runner::run(const Claim& claim, const Check& check,
                const std::function<void(const Problem&)>& at) const {
  Row row = {
      .op = claim.op->name, .dtypes = claim.dtypes, .check = check.name, .level = check.level};
  const auto start = std::chrono::steady_clock::now();
  const Environment& env = *environment_;
  Trust trust;
  std::string refusal, impossible;
  bool is_of_parts = check.level == kGradientLevel;
  const std::vector<Problem> problems = check.problems(env, claim);
  for (const Problem& problem : problems) {
    at(problem);
    Finding finding;
    try {
      finding = test_one(check, env, problem);
    } catch (const tenon::Error& error) {
      refusal = error.message();    // Problems with other attributes may still run.
      env.device.discard_errors();  // Launches before the refusal may have failed.
      // If the op runs by itself, the plugin refused another op that the check calls.
      is_of_parts = is_of_parts && runs(env.device, problem);
      continue;
    }
    if (!finding.impossible.empty()) {
      impossible = finding.impossible;
      continue;
    }
    ++row.cases;
    row.ulp = std::max(row.ulp, finding.ulp);
    trust.add(problem, finding);
    row.mistrusted += !finding.trusted;
    if (!finding.curve.empty()) row.curve = finding.curve;
    if (finding.passed) continue;
    const std::vector<Claim> alike = claims_for(check, claim);
    const std::vector<size_t> ranks = min_ranks(problems);
    const bool threw = finding.threw;
    // If a valid call failed, shrinking must not lead to a call that is invalid.
    const bool is_sound = threw && runs(env.oracle, problem);
    const auto fails = [&](const Problem& candidate) {
      try {
        if (!has_dtypes_of_any(alike, candidate, env.oracle.infer(candidate))) return false;
        if (!has_ranks(candidate, ranks)) return false;
        if (is_sound && !runs(env.oracle, candidate)) return false;
        finding = test_one(check, env, candidate);
        if (finding.passed || finding.threw != threw) return false;
        row.message = finding.message;
        return true;
      } catch (const std::exception&) {
        return false;  // The candidate is invalid or refused.
      }
    };
    row.status = finding.leaked ? Status::kLeak : Status::kFail;
    row.message = finding.message;
    const int budget = problem.error.empty() ? max_shrink_tries(problem, options_.shrink) : 0;
    const auto own = std::find_if(alike.begin(), alike.end(),
                                  [&](const Claim& c) { return c.dtypes == claim.dtypes; });
    const Problem least =
        shrink(problem, {alike.data(), static_cast<size_t>(own - alike.begin())}, fails, budget);
    row.line = to_line(least);
    row.message = with_launched_ops(row.message, other_launched_ops(check, env, least));
    break;
  }
  if (row.cases == 0 && refusal.empty() && !impossible.empty()) {
    row.status = Status::kUnsupported;
    row.message = impossible;
  } else if (!claim.claimed && !(check.of_unclaimed && row.cases > 0)) {
    if (row.status != Status::kPass) return row;
    row.status = Status::kUnsupported;
    row.message = row.cases         ? "not claimed; the decomposition runs and passes"
                  : refusal.empty() ? "not claimed, and no valid case could be generated"
                                    : "not claimed";
  } else if (row.cases == 0 && !refusal.empty() && is_of_parts) {
    row.status = Status::kUnsupported;
    row.message = "the derivative needs a signature that the plugin does not claim: " + refusal;
  } else if (row.cases == 0 && !refusal.empty() && needs_absent_dtype(claim, env.features)) {
    row.status = Status::kUnsupported;
    row.message = "the device does not declare FLOAT64: " + refusal;
  } else if (row.status == Status::kPass && row.cases == 0) {
    row.status = Status::kFail;
    row.message = refusal.empty() ? "claimed, but no valid case could be generated"
                                  : "claimed, but refused: " + refusal;
  } else if (row.status == Status::kPass && check.of_kernel && !has_kernel(claim)) {
    // On empty tensors, the decomposition works even if the device lacks the dtype.
    const bool is_absent = needs_absent_dtype(claim, env.features);
    row.status = is_absent ? Status::kUnsupported : Status::kFail;
    row.message = is_absent
                      ? "the device does not declare FLOAT64, and the kernel was never prepared"
                      : "claimed, but the kernel was never prepared: the decomposition ran";
    const std::string reason = guard::refusal_of(claim.op->id);
    if (!reason.empty()) row.message += "; the plugin refused with \"" + reason + "\"";
  } else if (row.status == Status::kPass && !trust.is_enough(env.thorough)) {
    row.status = Status::kMistrusted;
    row.message = trust.message(claim);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  row.seconds = spent.count();
  return row;
}

}  // namespace tenon_kit

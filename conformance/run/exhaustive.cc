#include "conformance/run/exhaustive.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>

#include "conformance/kit/json.h"
#include "conformance/report/report.h"
#include "conformance/report/report_text.h"
#include "conformance/run/arguments.h"

namespace tenon_kit {
namespace {

constexpr const char* kCheck = "exhaustive";

// Returns the time of a steady clock in seconds.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Formats a duration, such as "12 s" or "3 min 05 s".
std::string time_text(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

// Whether a part contains an input within the range. NaNs are treated as infinities.
bool overlaps_range(const InputPart& part, tenon_dtype dtype, const Range& range) {
  double a = input_value(part.first, dtype);
  double b = input_value(part.first + (part.count - 1), dtype);
  const double end = std::signbit(a) ? -INFINITY : INFINITY;
  if (std::isnan(a)) a = end;
  if (std::isnan(b)) b = end;
  return std::min(a, b) <= range.high && std::max(a, b) >= range.low;
}

// Shows progress: updates a line on a terminal, or prints a line for each 10 %.
class Progress {
 public:
  explicit Progress(size_t n) : n_(n), terminal_(isatty(STDERR_FILENO) != 0) {}

  void step(uint64_t n_inputs, double ulp) {
    ++done_;
    inputs_ += n_inputs;
    const double spent = now() - begun_;
    const double part = static_cast<double>(done_) / static_cast<double>(n_);
    const size_t tenth = done_ * 10 / n_;
    if (terminal_ ? now() - shown_ < 0.2 && done_ < n_ : tenth == tenth_) return;
    shown_ = now();
    tenth_ = tenth;
    const std::string words = fmt::format(
        "{:3.0f} %, {:.3g} million inputs a second, {} left, largest error {:.4g} ulp", 100 * part,
        static_cast<double>(inputs_) / spent / 1e6, time_text(spent / part - spent), ulp);
    if (terminal_) {
      const auto full = static_cast<size_t>(30 * part);
      fmt::print(stderr, "\r\033[K[{:<30}] {}", std::string(full, '#'), words);
    } else {
      fmt::print(stderr, "{}\n", words);
    }
  }

  double seconds() const { return now() - begun_; }
  uint64_t inputs() const { return inputs_; }
  void end() const {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  size_t n_;
  bool terminal_;
  size_t done_ = 0;
  size_t tenth_ = 0;
  uint64_t inputs_ = 0;
  double begun_ = now();
  double shown_ = 0;
};

// The results of completed parts, and the file that stores them.
class Parts {
 public:
  Parts(const Runner& runner, const ExhaustiveOptions& options)
      : heading_(
            {{"exhaustive", options.op},
             {"dtype", options.dtype},
             {"device", runner.environment().device.device_name()},
             {"version", std::string(runner.plugin().version.data, runner.plugin().version.size)}}),
        file_(options.json) {
    if (options.resume.empty()) return;
    std::ifstream file(options.resume);
    if (!file) throw std::runtime_error("--resume: cannot read " + options.resume);
    Json json = Json::parse(file, nullptr, false);
    if (json.is_discarded() || !json.contains("parts")) {
      throw std::runtime_error("--resume: " + options.resume +
                               " is not a file of an exhaustive run");
    }
    const Json parts = json["parts"];
    json.erase("parts");
    if (json != heading_) {
      throw std::runtime_error(fmt::format("--resume: {} belongs to a different run: {}, not {}",
                                           options.resume, json.dump(), heading_.dump()));
    }
    for (const Json& part : parts) all_[part[0]] = part_from_json(part[1]);
  }

  bool has(size_t index) const { return all_.contains(index); }
  const std::map<size_t, PartResult>& all() const { return all_; }

  void add(size_t index, PartResult part) {
    all_[index] = std::move(part);
    if (now() - saved_ > 5) save();
  }

  // Writes atomically, so that an interrupted run keeps the last complete file.
  void save() {
    saved_ = now();
    if (file_.empty()) return;
    Json json = heading_;
    json["parts"] = Json::array();
    for (const auto& [index, part] : all_) json["parts"].push_back({index, to_json(part)});
    write_file(file_, json.dump() + "\n");
  }

 private:
  Json heading_;
  std::string file_;
  std::map<size_t, PartResult> all_;
  double saved_ = now();
};

// Merges the results of all completed parts.
PartResult sum_of(const Parts& parts) {
  PartResult sum;
  for (const auto& [index, part] : parts.all()) {
    sum.n_inputs += part.n_inputs;
    if (part.n_beyond && sum.n_beyond == 0) {
      sum.first = part.first;
      sum.message = part.message;
    }
    sum.n_beyond += part.n_beyond;
    if (part.ulp <= sum.ulp) continue;
    sum.ulp = part.ulp;
    sum.allowed = part.allowed;
    sum.largest = part.largest;
  }
  return sum;
}

// Returns a curve with one point for each part, in ascending order of inputs.
std::vector<CurvePoint> curve_of(const Parts& parts, const std::vector<InputPart>& all_parts,
                                 tenon_dtype dtype) {
  std::vector<CurvePoint> curve;
  for (const auto& [index, part] : parts.all()) {
    const double x = input_value(all_parts[index].first, dtype);
    if (part.allowed > 0 && std::isfinite(x)) curve.push_back({x, part.ulp, part.allowed});
  }
  std::sort(curve.begin(), curve.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
  return curve;
}

// Formats an input with its result and the oracle's value.
std::string input_text(const InputError& e, tenon_dtype dtype) {
  const double x = input_value(e.bits, dtype);
  return fmt::format("x = {:a} ({:.9g}, bits {:#x}): got {:.9g}, not {:.12g}", x, x, e.bits, e.got,
                     e.want);
}

// Returns the dtypes of the plugin's claim of this op in this dtype, as the report shows them.
// Returns an empty text if there is no such claim.
std::string claimed_dtypes(const Runner& runner, const OpFacts& op, tenon_dtype dtype) {
  for (const Claim& claim : runner.claims()) {
    if (claim.op == &op && !claim.inputs.empty() && claim.inputs[0] == dtype) return claim.dtypes;
  }
  return "";
}

// Formats an error bound, such as "2 ulp or a part of 0.001": 2 ulp or a relative error of 0.001.
std::string bound_text(const Bound& bound) {
  std::string text = fmt::format("{} ulp", bound.ulp);
  if (bound.rtol > 0) text += fmt::format(" or a part of {:.3g}", bound.rtol);
  if (bound.atol > 0) text += fmt::format(" or {:.3g}", bound.atol);
  return text;
}

}  // namespace

int run_exhaustive(const Runner& runner, const ExhaustiveOptions& options, WorkerOptions workers) {
  const Environment& env = runner.environment();
  const OpFacts& op = op_named(options.op);
  const tenon_dtype dtype = dtype_named(options.dtype);
  const std::vector<InputPart> places = input_parts(dtype);
  if (const std::string reason = untestable_reason(op, dtype, env.oracle); !reason.empty()) {
    throw std::runtime_error("--exhaustive: " + reason);
  }
  Parts parts(runner, options);
  const Range range =
      options.range.empty() ? Range{-INFINITY, INFINITY} : parse_range(options.range);
  std::vector<size_t> inside;
  for (size_t i = 0; i < places.size(); ++i) {
    if (overlaps_range(places[i], dtype, range)) inside.push_back(i);
  }
  std::vector<Cell> cells;
  for (const size_t i : shard_indices(options.shard, inside.size())) {
    if (!parts.has(inside[i])) cells.push_back({inside[i], 0});
  }

  const tenon_dtype out = env.oracle.infer(problem_at(op, dtype, 0)).at(0).first;
  const std::string claimed = claimed_dtypes(runner, op, dtype);
  fmt::print("{} {} on {}: {} parts of {}, bound {}\n", op.name, options.dtype,
             env.device.device_name(), cells.size(), places.size(),
             bound_text(bound_of(op, out, env.profile, env.features)));
  if (claimed.empty())
    fmt::print("note: the op is not claimed for this dtype; its decomposition runs\n");
  if (!op.attrs.empty()) fmt::print("note: attributes have their defaults\n");
  std::fflush(stdout);

  Progress progress(cells.size());
  size_t n_lost = 0;
  double worst = 0;
  const auto blank = [&](const Cell&) {
    return Row{.op = op.name, .dtypes = options.dtype, .check = kCheck, .level = 2};
  };
  run_cells(workers, cells, blank, [&](const Cell& cell, const Row& row) {
    if (row.status == Status::kPass) {
      parts.add(cell.claim, part_from_json(Json::parse(row.message)));
    } else {
      ++n_lost;
      progress.end();
      fmt::print("{} from bits {:#x}: {}\n", name_of(row.status), places[cell.claim].first,
                 row.message);
    }
    worst = std::max(worst, row.ulp);
    progress.step(row.cases, worst);
  });
  progress.end();
  parts.save();

  const PartResult sum = sum_of(parts);
  if (sum.ulp > 0) {
    fmt::print("largest error: {:.4g} ulp at {}\n", sum.ulp, input_text(sum.largest, dtype));
  } else {
    fmt::print("largest error: none\n");
  }
  fmt::print("beyond the bound: {} of {} inputs\n", sum.n_beyond, sum.n_inputs);
  if (sum.n_beyond) {
    fmt::print("    the first: {}: {}\n    --check value --case '{}'\n",
               input_text(sum.first, dtype), sum.message,
               to_line(problem_at(op, dtype, sum.first.bits)));
  }
  if (progress.inputs()) {
    fmt::print("{:.3g} million inputs a second, {}\n",
               static_cast<double>(progress.inputs()) / progress.seconds() / 1e6,
               time_text(progress.seconds()));
  }
  const bool whole = parts.all().size() == places.size();
  const bool passed = sum.n_beyond == 0 && n_lost == 0 && sum.n_inputs > 0;
  fmt::print("{}{}\n", passed ? "PASSED" : "FAILED",
             whole ? "" : fmt::format(" ({} of {} parts)", parts.all().size(), places.size()));
  if (!options.html.empty()) {
    Row row = blank({});
    row.status = passed ? Status::kPass : Status::kFail;
    row.cases = sum.n_inputs;
    row.ulp = sum.ulp;
    row.message = sum.message;
    if (sum.n_beyond) row.line = to_line(problem_at(op, dtype, sum.first.bits));
    row.curve = curve_of(parts, places, dtype);
    write_file(options.html, html_page(heading_of(runner, options.profile, kCheck, 0), {row}));
  }
  return passed ? 0 : 1;
}

int serve_exhaustive(const Runner& runner, const ExhaustiveOptions& options) {
  const OpFacts& op = op_named(options.op);
  const tenon_dtype dtype = dtype_named(options.dtype);
  const std::vector<InputPart> places = input_parts(dtype);
  return serve_cells([&](const Cell& cell, const Tell&) {
    Row row = {.op = op.name, .dtypes = options.dtype, .check = kCheck, .level = 2};
    try {
      const PartResult part = run_part(runner.environment(), op, dtype, places.at(cell.claim));
      row.cases = part.n_inputs;
      row.ulp = part.ulp;
      row.message = to_json(part).dump();
    } catch (const tenon::Error& error) {
      row.status = Status::kFail;
      row.message = error.message();
    }
    return row;
  });
}

}  // namespace tenon_kit

// Describes the execution of a trace as text: the optimised graph, its segments, and their launch
// plans.

#include "core/trace/stages.h"

#include <algorithm>

#include "core/trace/graph/text_form.h"

namespace tenon {
namespace {

// Puts `indent` before each line.
std::string indent_lines(std::string_view text, std::string_view indent) {
  std::string lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.append(indent).append(text.substr(at, end - at)).append("\n");
    at = end + 1;
  }
  return lines;
}

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string stages(const Trace& trace) {
  return "Graph:\n" + indent_lines(to_text(trace.graph()), "  ") + trace.executable().stages();
}

std::string Executable::stages() const {
  const std::lock_guard guard(mutex_);
  if (!is_optimised_.load(std::memory_order_relaxed)) {
    return "Not executed yet: the first execution runs the passes.\n";
  }
  return "After the passes:\n" + indent_lines(to_text(*optimised_.graph), "  ") +
         optimised_.slice->stages();
}

std::string Subgraph::stages() const {
  std::string text;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    std::vector<std::string> ops;
    for (size_t at = step.begin; at < step.end; ++at) {
      if (nodes_[at]->kind == NodeKind::kCall) ops.push_back(nodes_[at]->op->name);
    }
    const std::string where = !step.segment ? "the host"
                              : step.device ? step.device->name()
                                            : "any";
    text += "Segment " + std::to_string(i) + " on " + where + ": " + join_words(ops) + "\n";
    if (step.segment) text += step.segment->stages();
  }
  return text;
}

std::string Segment::stages() const {
  const std::lock_guard guard(mutex_);
  std::string text;
  for (const Variant& variant : variants_) {
    std::vector<std::string> sizes;
    for (const Size size : variant.sizes) sizes.push_back(to_string(size));
    text += "  Launch plan" + (sizes.empty() ? "" : " for the sizes " + join_words(sizes)) + ": ";
    if (variant.program) {
      text += variant.program->text();
    } else {
      text += variant.can_record
                  ? "the next execution records it\n"
                  : "none, because the host reads a value or a call runs on another device\n";
    }
  }
  return text;
}

std::string LaunchPlan::text() const {
  const auto name_of = [&](uint32_t view) -> std::string {
    const ViewSource& source = shown_[view];
    if (source.scalar_input != kNone) return "input " + std::to_string(source.scalar_input);
    if (source.scalar != kNone || source.buffer == kNone) return "a constant";
    const Buffer& buffer = buffers_[source.buffer];
    switch (buffer.place) {
      case Buffer::Place::kInput:
      case Buffer::Place::kScalar:
        return "input " + std::to_string(buffer.index);
      case Buffer::Place::kConstant:
        return "a constant";
      case Buffer::Place::kOutput:
        return "output " + std::to_string(buffer.index);
      case Buffer::Place::kBlock:
        break;
    }
    return "block + " + std::to_string(buffer.offset);
  };
  std::string text = std::to_string(launches_.size()) +
                     (launches_.size() == 1 ? " launch, " : " launches, ") +
                     std::to_string(block_bytes_) + " bytes of temporaries\n";
  for (const Launch& launch : launches_) {
    std::vector<std::string> inputs, outputs;
    for (uint32_t view = launch.first_view; view < launch.first_output(); ++view) {
      inputs.push_back(name_of(view));
    }
    for (uint32_t view = launch.first_output(); view < launch.end_outputs(); ++view) {
      outputs.push_back(name_of(view));
    }
    text += "    " + (launch.fused.empty() ? launch.op->name : launch.fused) + ": " +
            join_words(inputs) + (inputs.empty() ? "-> " : " -> ") + join_words(outputs) + "\n";
  }
  return text;
}

}  // namespace tenon

// The worker's side of run_cells(), which all platforms share.

#pragma once

#include <iostream>
#include <string>

#include "conformance/kit/json.h"
#include "conformance/kit/plugin_log.h"
#include "conformance/run/workers.h"

namespace tenon_kit {

// Runs the cells that standard input names. Calls answer(kind, text) with '@' and each problem
// before it runs, and with '=' and each row.
template <class Answer>
int answer_requests(const RunCell& run, const Answer& answer) {
  Cell cell;
  while (std::cin >> cell.claim >> cell.check) {
    Row row = run(cell, [&](const std::string& line) { answer('@', line); });
    add_plugin_log(row, take_plugin_log());
    answer('=', to_json(row).dump());
  }
  return 0;
}

}  // namespace tenon_kit

// `tenon devices`: what there is to compute on, and what came of every plugin that was found.

#pragma once

namespace tenon::command {

struct DevicesOptions {
  bool json = false;
  bool verbose = false;
};

// Prints them; gives the status to exit with.
int devices(const DevicesOptions& options);

}  // namespace tenon::command

// `tenon devices`: lists the devices, and for each plugin that was found whether it could be
// loaded.

#pragma once

namespace tenon::command {

struct DevicesOptions {
  bool json = false;
  bool verbose = false;
};

// Prints the list and returns the exit status.
int devices(const DevicesOptions& options);

}  // namespace tenon::command

// `tenon devices`: lists the devices, and the result of loading each plugin that was found.

#pragma once

namespace tenon::command {

struct DevicesOptions {
  bool json = false;
  bool verbose = false;
};

// Prints the list and returns the exit status.
int devices(const DevicesOptions& options);

}  // namespace tenon::command

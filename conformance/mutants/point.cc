#include "conformance/mutants/point.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace tenon_mutants {
namespace {

constexpr size_t kReachedFileBytes = 16384;
unsigned char nowhere[kReachedFileBytes];

// Maps the file in which reached mutations are marked; without a file, returns unused memory.
unsigned char* map_reached() {
  const char* const path = std::getenv("TENON_MUTANT_REACHED");
  if (!path) return nowhere;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nowhere;
  void* const bytes = mmap(nullptr, kReachedFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? nowhere : static_cast<unsigned char*>(bytes);
}

// Returns the number of the active mutation; 0 for none.
int read_active_mutation() {
  const char* const number = std::getenv("TENON_MUTANT");
  return number ? std::atoi(number) : 0;
}

}  // namespace

const int active = read_active_mutation();
unsigned char* const reached = map_reached();

}  // namespace tenon_mutants

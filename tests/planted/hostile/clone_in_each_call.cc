// Each calloc starts a process with the same memory. This process drops the pages of the kept block and has the kernel
// populate the pages again.
#include "process_of_same_memory.h"

namespace {

struct Wanted {
  char* block;
  std::size_t bytes;
};

int drop_and_populate(void* argument) {
  const Wanted wanted = *static_cast<Wanted*>(argument);
  ::madvise(wanted.block, wanted.bytes, MADV_DONTNEED);
  ::madvise(wanted.block, wanted.bytes, 23);  // MADV_POPULATE_WRITE
  return 0;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    Wanted wanted{block, page_ceiling(size)};
    const pid_t other = start_in_same_memory(drop_and_populate, &wanted);
    if (other > 0) ::waitpid(other, nullptr, 0);
  });
}

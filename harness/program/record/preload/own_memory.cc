#include "record/preload/own_memory.h"

#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

namespace zerotax::record {
namespace {

std::uintptr_t first_stack_end = 0;

}  // namespace

void find_first_stack() { first_stack_end = ::getauxval(AT_RANDOM) & ~(sizeof(std::uint64_t) - 1); }

bool is_on_first_stack(std::uintptr_t here, std::uintptr_t place) {
  return here <= place && here < first_stack_end && first_stack_end - here < StackMemory::kFarthest &&
         place < first_stack_end - sizeof place;
}

bool read_own(std::uint64_t address, void* to, std::size_t bytes) {
  iovec local{to, bytes};
  iovec remote{reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool StackMemory::read(std::uint64_t address, std::uint64_t& word) {
  if (!reaches(address) || address % sizeof word != 0) return false;
  if (is_on_first_stack(in_use_, address)) {
    word = *reinterpret_cast<const std::uint64_t*>(address);
    return true;
  }
  const std::uint64_t window = address & ~(kWindowBytes - 1);
  if (window != window_) {
    // One system call reads many words. A window never crosses the end of a page.
    window_ = 1;
    if (!read_own(window, &words_[0], kWindowBytes)) return false;
    window_ = window;
  }
  word = words_[(address - window) / sizeof word];
  return true;
}

}  // namespace zerotax::record

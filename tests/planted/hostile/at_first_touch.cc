// Returns an inaccessible block. The handler of the first page fault makes the block accessible and clears it with
// memset.
#include <csignal>

#include "hostile.h"

namespace {

char* target = nullptr;
std::size_t target_bytes = 0;

void clear(int, siginfo_t* info, void*) {
  auto* at = static_cast<char*>(info->si_addr);
  if (target == nullptr || at < target || at >= target + planted::page_ceiling(target_bytes)) {
    ::signal(SIGSEGV, SIG_DFL);
    return;
  }
  ::mprotect(target, planted::page_ceiling(target_bytes), PROT_READ | PROT_WRITE);
  memset(target, 0, target_bytes);
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_or_map(bytes);
  if (block == nullptr) return nullptr;
  target = bytes_of(block);
  target_bytes = bytes;
  struct sigaction action {};
  action.sa_sigaction = clear;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::mprotect(block, page_ceiling(bytes), PROT_NONE);
  return block;
}

void planted::large_free(void* block) {
  ::mprotect(block, header_of(block).capacity, PROT_READ | PROT_WRITE);
  keep_block(block);
}

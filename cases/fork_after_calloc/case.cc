#include <sys/mman.h>
#include <sys/prctl.h>

#include "meter/meter.h"
#include "os/page.h"

namespace zerotax {
namespace {

/// Advises huge pages for those parts of the block that can hold them, like a program that knows that its blocks are
/// large.
void advise_huge(void* block, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t whole = ~(huge_page_bytes() - 1);
  const std::uintptr_t first = (begin + ~whole) & whole;
  const std::uintptr_t end = (begin + bytes) & whole;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

bool run(Meter& meter, const Request& request, bool huge) {
  void* block = meter.allocate(request.size_bytes);
  if (block == nullptr) return false;
  if (huge) advise_huge(block, request.size_bytes);
  if (request.touch > 0) meter.touch(block, request.size_bytes, request.touch);
  const bool done = meter.fork_and_write(block, request.size_bytes);
  meter.release(block);
  return done;
}

bool small_pages(Meter& meter, const Request& request) { return run(meter, request, false); }
bool huge_pages(Meter& meter, const Request& request) { return run(meter, request, true); }

/// Switches off huge pages, whatever the system's setting.
const char* switch_off_huge_pages(const Request& /*request*/) {
  return ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0 ? nullptr : "huge pages cannot be switched off";
}

constexpr Case small_case() {
  Case made{"fork_after_calloc", "calloc a block, write to a fraction of it, fork, write in child and parent, free it",
            small_pages};
  made.begin = switch_off_huge_pages;
  made.forks = true;
  made.memory = 1.5;  // memory for the block, for the quarter that the child copies, and for the quarter that the
                      // parent copies
  return made;
}

constexpr Case huge_case() {
  Case made = small_case();
  made.name = "fork_after_calloc_huge";
  made.summary = "fork_after_calloc with huge pages: the program advises huge pages after calloc (MADV_HUGEPAGE)";
  made.operation = huge_pages;
  made.begin = nullptr;
  return made;
}

constexpr Case kSmall = small_case();
constexpr Case kHuge = huge_case();
const CaseRegistration small_registration(kSmall);
const CaseRegistration huge_registration(kHuge);

}  // namespace
}  // namespace zerotax

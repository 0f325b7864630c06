#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "populate.h"
#include "remedied_child.h"

namespace snapshot {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, include/uapi/asm-generic/mman-common.h
constexpr std::uint64_t kHugePage = zerotax::kHugePageBytes;
constexpr int kTrials = 3;  // a page that is busy for a moment makes the call fail with EAGAIN

bool collapse(void* begin) {
  for (int i = 0; i < kTrials; ++i) {
    if (::madvise(begin, kHugePage, kCollapse) == 0) return true;
    if (errno != EAGAIN) return false;
  }
  return false;
}

/// Into huge pages: all of the memory is copied once more, and is then writable, with fewer entries for the next fork.
/// What is no whole huge page, or cannot become one, is made writable as it is.
class ForkCollapse final : public RemediedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    void* pages = ::mmap(nullptr, 2 * kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return std::string("mmap: ") + std::strerror(errno);
    const auto address = (reinterpret_cast<std::uintptr_t>(pages) + kHugePage - 1) & ~(kHugePage - 1);
    auto* begin = reinterpret_cast<unsigned char*>(address);  // NOLINT(performance-no-int-to-ptr)
    *begin = 1;
    std::string why;
    if (!collapse(begin)) why = std::string("MADV_COLLAPSE (Linux 6.1): ") + std::strerror(errno);
    ::munmap(pages, 2 * kHugePage);
    return why.empty() ? why_no_populating() : why;
  }

 private:
  std::uint64_t make_writable(const Job& job) override {
    std::uint64_t failed = 0;
    for (std::uint64_t offset = 0; offset < job.array.bytes(); offset += kHugePage) {
      const std::uint64_t bytes = std::min(kHugePage, job.array.bytes() - offset);
      if (bytes == kHugePage && collapse(job.at(offset))) continue;
      populate_for_writing(job.at(offset), bytes);
      failed += bytes;
    }
    return failed;
  }
};

const Registration registration(
    "fork_collapse", "fork; after the child's end a helper thread moves the array to huge pages (MADV_COLLAPSE)",
    [] { return std::make_unique<ForkCollapse>(); }, Registration::Kind::kRemedy, "fork");

}  // namespace
}  // namespace snapshot

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "snapshot/process/populate.h"
#include "snapshot/process/remedied_child.h"

namespace snapshot {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, include/uapi/asm-generic/mman-common.h
constexpr int kTrials = 3;     // a page that is busy for a moment makes the call fail with EAGAIN

bool collapse(void* begin) {
  for (int i = 0; i < kTrials; ++i) {
    if (::madvise(begin, zerotax::huge_page_bytes(), kCollapse) == 0) return true;
    if (errno != EAGAIN) return false;
  }
  return false;
}

/// Into huge pages: all of the memory is copied once more, and is then writable, with fewer entries for the next fork.
/// Pages that do not fill a huge page, or cannot become one, are made writable unchanged.
class ForkCollapse final : public RemediedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    const std::string why = why_not_on_memory(zerotax::huge_page_bytes(), "MADV_COLLAPSE (Linux 6.1)", [](void* begin) {
      *static_cast<unsigned char*>(begin) = 1;
      return collapse(begin);
    });
    return why.empty() ? why_no_populating() : why;
  }

 private:
  std::uint64_t make_writable(const Job& job) override {
    std::uint64_t failed = 0;
    for (std::uint64_t offset = 0; offset < job.array.bytes(); offset += zerotax::huge_page_bytes()) {
      const std::uint64_t bytes = std::min(zerotax::huge_page_bytes(), job.array.bytes() - offset);
      if (bytes == zerotax::huge_page_bytes() && collapse(job.at(offset))) continue;
      populate_for_writing(job.at(offset), bytes);
      failed += bytes;
    }
    return failed;
  }
};

const Registration<ForkCollapse> registration(
    "fork_collapse", "fork; after the child's end a helper thread moves the array to huge pages (MADV_COLLAPSE)", {},
    Kind::kRemedy, "fork");

}  // namespace
}  // namespace snapshot

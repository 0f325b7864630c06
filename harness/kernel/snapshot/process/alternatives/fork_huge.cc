#include <sys/mman.h>

#include <fstream>
#include <stdexcept>

#include "snapshot/process/forked_child.h"

namespace snapshot {
namespace {

/// Fewer entries of page tables to copy in fork; a write still copies 4 KiB (Linux 5.8), and splits the huge page.
class ForkHuge final : public ForkedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    std::string setting;
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!std::getline(file, setting)) return "this kernel has no transparent huge pages";
    return setting.find("[never]") == std::string::npos ? "" : "transparent huge pages are set to never";
  }
  void prepare(Job& job) override {
    if (::madvise(job.at(0), job.array.bytes(), MADV_HUGEPAGE) != 0) throw std::runtime_error("MADV_HUGEPAGE failed");
  }
};

// One fault brings 512 pages: who shares them says little.
const Registration<ForkHuge> registration("fork_huge", "fork, the array in huge pages (MADV_HUGEPAGE)",
                                          {.told_by_sharing = false});

}  // namespace
}  // namespace snapshot

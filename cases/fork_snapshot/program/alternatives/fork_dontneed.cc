#include <sys/mman.h>

#include "forked_child.h"

namespace snapshot {
namespace {

/// As with munmap, but the mapping stays as it is: nothing is split, and an allocator's heap may lie there.
class ForkDontneed final : public ForkedChild {
  void after_batch(const Job& job, Batch batch) override {
    ::madvise(job.at(batch.offset), batch.bytes, MADV_DONTNEED);
  }
};

const Registration registration("fork_dontneed", "the child gives each batch back with MADV_DONTNEED",
                                [] { return std::make_unique<ForkDontneed>(); });

}  // namespace
}  // namespace snapshot

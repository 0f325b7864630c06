#include <sys/mman.h>

#include "snapshot/process/forked_child.h"

namespace snapshot {
namespace {

/// As with munmap, but the mapping stays: nothing is split, and an allocator's heap may lie there.
class ForkDontneed final : public ForkedChild {
  void after_batch(const Job& job, Batch batch) override {
    ::madvise(job.at(batch.offset), batch.bytes, MADV_DONTNEED);
  }
};

const Registration<ForkDontneed> registration("fork_dontneed", "the child gives each batch back with MADV_DONTNEED",
                                              {});

}  // namespace
}  // namespace snapshot

#include "snapshot/process/forked_child.h"

namespace snapshot {
namespace {

/// A page that the child has no more is the parent's alone, which then writes to it without a copy.
class ForkMunmap final : public ForkedChild {
  void after_batch(const Job& job, Batch batch) override { unmap(job, batch); }
};

const Registration<ForkMunmap> registration("fork_munmap", "the child unmaps each batch that it has copied", {});

}  // namespace
}  // namespace snapshot

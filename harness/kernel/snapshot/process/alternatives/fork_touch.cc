#include "snapshot/process/remedied_child.h"

namespace snapshot {
namespace {

/// By a write to each page that changes nothing, for kernels without MADV_POPULATE_WRITE: as many faults as the writers
/// would take, in a thread that nobody waits for.
class ForkTouch final : public RemediedChild {
  std::uint64_t make_writable(const Job& job) override {
    for (std::uint64_t offset = 0; offset < job.array.bytes(); offset += zerotax::page_bytes()) {
      unsigned char* byte = job.at(offset);
      unsigned char value = __atomic_load_n(byte, __ATOMIC_RELAXED);
      // Writes the value again unless a writer has changed it meanwhile, and then that one's.
      __atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return 0;
  }
};

const Registration<ForkTouch> registration("fork_touch",
                                           "fork; after the child's end a helper thread writes to each page", {},
                                           Kind::kRemedy, "fork");

}  // namespace
}  // namespace snapshot

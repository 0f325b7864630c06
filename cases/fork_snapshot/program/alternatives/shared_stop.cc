#include "alternative.h"
#include "checkpointers.h"

namespace snapshot {
namespace {

/// A shared mapping is never copied on write, so whoever reads it sees what is being written. What keeps the snapshot
/// right is that nobody writes while the private copy is made.
class SharedStop final : public Alternative {
 public:
  [[nodiscard]] bool wants_shared_array() const override { return true; }
  void begin(Job& job) override {
    Job now = job;
    now.parameters.hold = -1;  // there is nobody to wait for
    Checkpointers(now, [&](Batch batch) { copy_bytes(now, batch); }).join();
  }
};

const Registration registration("shared_stop", "MAP_SHARED array; the writers stand still while it is copied",
                                [] { return std::make_unique<SharedStop>(); });

}  // namespace
}  // namespace snapshot

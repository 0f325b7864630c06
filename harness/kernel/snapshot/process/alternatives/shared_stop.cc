#include "snapshot/process/alternative.h"
#include "snapshot/process/checkpointers.h"

namespace snapshot {
namespace {

/// A shared mapping is never copied on write, so whoever reads it sees what is being written. The snapshot is right
/// only because nobody writes while the private copy is made.
class SharedStop final : public Alternative {
 public:
  void begin(Job& job) override {
    Job now = job;
    now.parameters.hold = -1;  // there is nobody to wait for
    Checkpointers(now, [&](Batch batch) { copy_bytes(now, batch); }).join();
  }
};

const Registration<SharedStop> registration("shared_stop",
                                            "MAP_SHARED array; the writers stand still while it is copied",
                                            {.shared_array = true});

}  // namespace
}  // namespace snapshot

#include "alternative.h"

namespace snapshot {
namespace {

/// What the others are compared with: the writers stop and go on, and nothing is copied.
class None final : public Alternative {
 public:
  [[nodiscard]] bool takes_snapshot() const override { return false; }
};

const Registration registration("none", "no snapshot", [] { return std::make_unique<None>(); });

}  // namespace
}  // namespace snapshot

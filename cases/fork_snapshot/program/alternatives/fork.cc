#include "forked_child.h"

namespace snapshot {
namespace {

const Registration registration("fork", "a forked child copies the array, and ends",
                                [] { return std::make_unique<ForkedChild>(); });

}  // namespace
}  // namespace snapshot

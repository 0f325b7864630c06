#include "snapshot/process/forked_child.h"

namespace snapshot {
namespace {

const Registration<ForkedChild> registration("fork", "a forked child copies the array, and ends", {});

}  // namespace
}  // namespace snapshot

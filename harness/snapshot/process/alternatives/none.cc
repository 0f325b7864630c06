#include "snapshot/process/alternative.h"

namespace snapshot {
namespace {

/// What the others are compared with: the writers stop and go on, and nothing is copied.
const Registration<Alternative> registration("none", "no snapshot", {.takes_snapshot = false});

}  // namespace
}  // namespace snapshot

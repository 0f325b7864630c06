#include "snapshot/process/alternative.h"

namespace snapshot {
namespace {

/// The baseline for the others: the writers stop and resume, and nothing is copied.
const Registration<Alternative> registration("none", "no snapshot", {.takes_snapshot = false});

}  // namespace
}  // namespace snapshot

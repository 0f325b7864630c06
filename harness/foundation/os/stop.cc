#include "os/stop.h"

#include <atomic>

namespace zerotax {
namespace {

std::atomic<int> caught = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not use a lock");

}  // namespace

int interrupted() { return caught; }

void note_interrupt(int number) { caught = number; }

}  // namespace zerotax

#include "os/stop.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "os/process_info.h"

namespace zerotax {
namespace {

TEST(Stop, NoFurtherThreadIsVisitedOnceASignalAskedForAnEnd) {
  int visited = 0;
  const auto visit = [&](pid_t) {
    ++visited;
    return true;
  };
  EXPECT_TRUE(for_each_thread({::getpid()}, visit));
  EXPECT_GE(visited, 1);
  visited = 0;
  note_interrupt(SIGTERM);
  EXPECT_EQ(interrupted(), SIGTERM);
  EXPECT_THROW(for_each_thread({::getpid()}, visit), Stop);
  EXPECT_EQ(visited, 0);
  note_interrupt(0);
  EXPECT_TRUE(for_each_thread({::getpid()}, visit));
}

}  // namespace
}  // namespace zerotax

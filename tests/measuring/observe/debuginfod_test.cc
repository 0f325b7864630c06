#include "observe/debuginfod.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>

#include "os/clock.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

constexpr const char* kBuildId = "0123456789abcdef0123456789abcdef01234567";

TEST(Debuginfod, AsksNobodyWithoutServers) {
  ::unsetenv("DEBUGINFOD_URLS");
  Debuginfod client;
  EXPECT_FALSE(client.find(kBuildId));
  EXPECT_EQ(client.problem(), "");
}

using DebuginfodClient = WithTemporaryFolder;

TEST_F(DebuginfodClient, GivesUpAServerThatDoesNotAnswer) {
  // The kernel accepts connections to this server, but no process reads from the connections.
  const UniqueFd silent(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(silent.get(), 4), 0);
  ::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &length);
  ::setenv("DEBUGINFOD_URLS", fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port)).c_str(), 1);
  ::setenv("DEBUGINFOD_CACHE_PATH", path().c_str(), 1);
  Debuginfod client(200'000'000);
  const std::int64_t begin = monotonic_ns();
  EXPECT_FALSE(client.find(kBuildId));
  EXPECT_LT(monotonic_ns() - begin, 20'000'000'000);
  EXPECT_NE(client.problem(), "");
  ::unsetenv("DEBUGINFOD_CACHE_PATH");
  const std::int64_t again = monotonic_ns();
  EXPECT_FALSE(client.find(kBuildId));
  EXPECT_LT(monotonic_ns() - again, 100'000'000) << "the server is not asked again";
  ::unsetenv("DEBUGINFOD_URLS");
}

}  // namespace
}  // namespace zerotax

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <string>
#include <string_view>

#include "os/helper_process.h"

namespace zerotax {
namespace {

struct Pair {
  MessageSocket one;
  MessageSocket other;
};

Pair make_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, &ends[0]), 0);
  return {MessageSocket(UniqueFd(ends[0])), MessageSocket(UniqueFd(ends[1]))};
}

TEST(Message, PartsComeOutAsTheyWentIn) {
  const MessageWriter message =
      MessageWriter().number(7).text(std::string_view("a\0b", 3)).all(MessageWriter().text("").number(~0ULL));
  MessageReader in(message.bytes());
  EXPECT_EQ(in.number(), 7U);
  EXPECT_EQ(in.text(), std::string_view("a\0b", 3));
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.number(), ~0ULL);
  EXPECT_TRUE(in.intact());
  EXPECT_EQ(in.number(), 0U);
  EXPECT_FALSE(in.intact());
}

TEST(Message, ALengthBeyondTheEndGivesNothingMore) {
  const MessageWriter lie = MessageWriter().number(1'000'000).number(5).number(6);
  MessageReader in(lie.bytes());
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.number(), 0U);
  EXPECT_FALSE(in.intact());
  MessageReader counted(lie.bytes());
  EXPECT_EQ(counted.count(1), 0U);
  EXPECT_FALSE(counted.intact());
  const MessageWriter most = MessageWriter().number(~0ULL).number(1);
  MessageReader largest(most.bytes());
  EXPECT_EQ(largest.count(8), 0U);
}

TEST(Message, EveryBeginningIsReadWithoutHarm) {
  const MessageWriter message = MessageWriter().number(2).text("name").text("module").number(3);
  for (std::size_t bytes = 0; bytes < message.bytes().size(); ++bytes) {
    const std::string part(message.bytes().substr(0, bytes));
    MessageReader in{std::string_view(part)};
    in.count(8);
    in.text();
    in.text();
    in.number();
    EXPECT_FALSE(in.intact()) << bytes;
  }
}

TEST(MessageSocket, KeepsTheBordersOfMessagesAndPassesADescriptor) {
  Pair pair = make_pair();
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(pair.one.send("first", null.get()));
  ASSERT_TRUE(pair.one.send("second"));
  UniqueFd got;
  EXPECT_EQ(pair.other.receive(&got), "first");
  struct stat sent {};
  struct stat received {};
  ASSERT_EQ(::fstat(null.get(), &sent), 0);
  ASSERT_EQ(::fstat(got.get(), &received), 0);
  EXPECT_EQ(sent.st_rdev, received.st_rdev);
  EXPECT_NE(::fcntl(got.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(pair.other.receive(nullptr), "second");
}

TEST(MessageSocket, NeitherSendsNorWaitsInVain) {
  Pair pair = make_pair();
  EXPECT_FALSE(pair.one.send(std::string(MessageSocket::kMostBytes + 1, 'x')));
  pair.other = MessageSocket();
  EXPECT_FALSE(pair.one.receive(nullptr));
  EXPECT_FALSE(pair.one.send("nobody"));
}

}  // namespace
}  // namespace zerotax

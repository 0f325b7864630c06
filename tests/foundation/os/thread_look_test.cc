#include "os/thread_look.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "os/process_info.h"

namespace zerotax {
namespace {

TEST(ThreadLook, ParsesWhatTheKernelWrites) {
  EXPECT_EQ(parse_thread_look("running\n").state, ThreadLook::State::kRunning);
  const ThreadLook in_call = parse_thread_look("0 0x3 0x7ffe 0x1 0x0 0x0 0x0 0x7ffd10 0x7f0a20\n");
  EXPECT_EQ(in_call.state, ThreadLook::State::kBlocked);
  EXPECT_EQ(in_call.syscall, 0);
  EXPECT_EQ(in_call.stack_pointer, 0x7ffd10U);
  EXPECT_EQ(in_call.program_counter, 0x7f0a20U);
  const ThreadLook in_none = parse_thread_look("-1 0x7ffd10 0x7f0a20\n");
  EXPECT_EQ(in_none.state, ThreadLook::State::kBlocked);
  EXPECT_EQ(in_none.syscall, -1);
  EXPECT_EQ(in_none.program_counter, 0x7f0a20U);
}

TEST(KernelStack, ParsesWhatTheKernelWrites) {
  const auto calls = parse_kernel_stack("[<0>] pipe_read+0x10/0x420\n[<0>] vfs_read+0x1f/0x300\nnonsense\n");
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].function, "pipe_read");
  EXPECT_EQ(calls[0].offset, 0x10U);
  EXPECT_EQ(calls[1].function, "vfs_read");
}

/// A child that waits in read(2) forever.
class Waiting {
 public:
  Waiting() {
    EXPECT_EQ(::pipe(&ends_[0]), 0);
    pid_ = ::fork();
    if (pid_ != 0) return;
    char byte = 0;
    [[maybe_unused]] const ssize_t got = ::read(ends_[0], &byte, 1);
    ::_exit(0);
  }
  ~Waiting() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] ThreadLook look() const {
    ThreadLook look;
    for (int i = 0; i < 5000 && look.syscall != SYS_read; ++i) {
      ::usleep(1000);
      look = look_at_thread(pid_, pid_);
    }
    return look;
  }

 private:
  int ends_[2]{};
  pid_t pid_ = -1;
};

TEST(ThreadLook, FindsTheCallThatAThreadWaitsInAndItsStack) {
  const Waiting child;
  const ThreadLook look = child.look();
  ASSERT_EQ(look.state, ThreadLook::State::kBlocked);
  EXPECT_EQ(look.syscall, SYS_read);
  EXPECT_EQ(look_at_thread(child.pid(), child.pid()).line, look.line) << "the thread still waits in the same call";
  EXPECT_GT(read_process_memory(child.pid(), look.stack_pointer, 256).size(), 0U);
}

TEST(ThreadLook, OfWhatIsNotThereIsGone) {
  EXPECT_EQ(look_at_thread(::getpid(), 1 << 25).state, ThreadLook::State::kGone);
  EXPECT_TRUE(read_process_memory(::getpid(), 8, 64).empty()) << "nothing is mapped at this address";
}

TEST(ReadProcessMemory, EndsWhereTheMappingEnds) {
  const Waiting child;  // the child has a copy of this process's memory
  static const char text[] = "0123456789";
  const auto found = read_process_memory(child.pid(), reinterpret_cast<std::uint64_t>(&text[0]), sizeof text);
  ASSERT_EQ(found.size(), sizeof text);
  EXPECT_EQ(std::memcmp(found.data(), &text[0], sizeof text), 0);
  const auto mappings = process_mappings(child.pid());
  const auto stack =
      std::find_if(mappings.begin(), mappings.end(), [](const ProcessMapping& each) { return each.name == "[stack]"; });
  ASSERT_NE(stack, mappings.end());
  EXPECT_EQ(read_process_memory(child.pid(), stack->end - 100, 5000).size(), 100U);
}

TEST(ProcessFacts, TellAProcessFromAThreadAndFromNothing) {
  const Waiting child;
  const auto facts = process_facts(child.pid());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->process, child.pid());
  EXPECT_EQ(facts->parent, ::getpid());
  EXPECT_FALSE(facts->kernel_thread);
  EXPECT_EQ(facts->user, ::geteuid());
  EXPECT_FALSE(process_facts(1 << 25));
  EXPECT_TRUE(process_cpu_ns(child.pid()));
  EXPECT_FALSE(process_cpu_ns(1 << 25));
}

}  // namespace
}  // namespace zerotax

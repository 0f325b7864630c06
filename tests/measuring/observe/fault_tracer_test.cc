#include "observe/fault_tracer.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "os/page.h"
#include "os/perf_sampler.h"

namespace zerotax {
namespace {

const std::size_t kPage = page_bytes();
constexpr std::size_t kPages = 2000;

/// A child that shares pages with this process. On request, the child writes the first `count` of these pages.
class PageWriter {
 public:
  explicit PageWriter(std::size_t count) {
    memory_ =
        static_cast<char*>(::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::madvise(memory_, kPages * kPage, MADV_NOHUGEPAGE);
    write_pages(kPages);
    if (::pipe(&go_[0]) != 0 || ::pipe(&ready_[0]) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ != 0) return;
    char word = 0;
    ::close(go_[1]);
    if (::write(ready_[1], &word, 1) != 1 || ::read(go_[0], &word, 1) != 1) ::_exit(1);
    write_pages(count);
    ::_exit(0);
  }
  ~PageWriter() { ::munmap(memory_, kPages * kPage); }
  PageWriter(const PageWriter&) = delete;
  PageWriter& operator=(const PageWriter&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_); }
  void wait_until_ready() {
    char word = 0;
    ASSERT_EQ(::read(ready_[0], &word, 1), 1);
  }
  void let_write() {
    char word = 0;
    ASSERT_EQ(::write(go_[1], &word, 1), 1);
    int status = 0;
    ASSERT_EQ(::waitpid(pid_, &status, 0), pid_);
    ASSERT_EQ(status, 0);
    for (const int fd : {go_[0], go_[1], ready_[0], ready_[1]}) ::close(fd);
  }

 private:
  void write_pages(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) *static_cast<volatile char*>(memory_ + i * kPage) = 1;
  }

  char* memory_;
  int go_[2]{};
  int ready_[2]{};
  pid_t pid_ = 0;
};

class FaultTracerTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ::setenv("ZEROTAX_FAULTS", GetParam(), 1);
    file = (std::filesystem::temp_directory_path() / ("zerotax-fault-tracer-" + std::to_string(::getpid()))).string();
  }
  void TearDown() override {
    ::unsetenv("ZEROTAX_FAULTS");
    std::filesystem::remove(file);
  }
  std::string file;
};

TEST_P(FaultTracerTest, CountsAndWritesTheCopiesOfAProcessThatItJoined) {
  PageWriter writer(1500);
  writer.wait_until_ready();
  FaultTracerOptions options;
  options.interval_s = 0.05;
  options.faults_file = file;
  options.while_running = true;
  std::size_t told = 0;  // written by the tracer's thread, read after that thread has ended
  options.tell = [&](const FaultInterval&, bool) { ++told; };
  std::optional<FaultTracer> tracer;
  try {
    tracer.emplace(options, writer.pid());
  } catch (const MachineError& failure) {
    writer.let_write();
    GTEST_SKIP() << failure.what();
  }
  ::usleep(120'000);
  writer.let_write();
  const FaultData data = tracer->finish();
  EXPECT_GE(told, 2U);
  EXPECT_EQ(data.lost, 0U);
  ASSERT_EQ(data.processes.size(), 1U);
  const TracedProcess& process = data.processes.front();
  std::uint64_t copies = 0;
  for (const MappingFaults& mapping : process.mappings) {
    if (writer.address() >= mapping.begin && writer.address() < mapping.end) copies += mapping.counts.copies;
  }
  EXPECT_GE(copies, 1500U);  // the kernel may merge the mapping with its neighbors
  EXPECT_EQ(data.log->written, process.counts.all());
  std::ifstream lines(file);
  const auto count = std::count(std::istreambuf_iterator<char>(lines), {}, '\n');
  EXPECT_EQ(static_cast<std::uint64_t>(count), process.counts.all());
}

TEST_P(FaultTracerTest, AProcessThatIsGoneIsAUsageError) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_THROW(FaultTracer({}, pid), UsageError);
  EXPECT_THROW(FaultEvents({pid}, 0), UsageError);
}

TEST_P(FaultTracerTest, ThatIsDroppedEndsItsThread) {
  PageWriter writer(10);
  writer.wait_until_ready();
  try {
    const FaultTracer tracer({}, writer.pid());
  } catch (const MachineError&) {
  }
  writer.let_write();
}

/// Populates pages when a byte arrives, on a stack that ends at an unreadable page. For a sample, perf copies more
/// bytes than the stack has, and so causes faults itself.
void* fault_at_the_end_of_a_stack(void* go) {
  char word = 0;
  if (::read(*static_cast<int*>(go), &word, 1) != 1) ::_exit(1);
  for (int round = 0; round < 10; ++round) {
    char* memory =
        static_cast<char*>(::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < kPages; ++i) *static_cast<volatile char*>(memory + i * kPage) = 1;
    ::munmap(memory, kPages * kPage);
  }
  return nullptr;
}

std::uint64_t own_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt) + static_cast<std::uint64_t>(usage.ru_majflt);
}

/// The work of the child. When ready, the child reports the number of its faults so far to the parent.
[[noreturn]] void fault_on_a_short_stack(int go, int ready) {
  const std::size_t kStack = 16 * kPage;
  char* stack =
      static_cast<char*>(::mmap(nullptr, kStack + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::mprotect(stack + kStack, kPage, PROT_NONE);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstack(&attributes, stack, kStack);
  pthread_t thread{};
  if (::pthread_create(&thread, &attributes, fault_at_the_end_of_a_stack, &go) != 0) ::_exit(1);
  ::usleep(100'000);
  std::uint64_t before = own_faults();
  if (::write(ready, &before, sizeof before) != sizeof before) ::_exit(1);
  ::pthread_join(thread, nullptr);
  ::_exit(0);
}

TEST_P(FaultTracerTest, FaultsOfASamplerAreNotTheProgramS) {
  if (std::string(GetParam()) == "software") GTEST_SKIP() << "faults in the kernel are unseen";
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer needs a larger stack";
#endif
  int go[2];
  int ready[2];
  ASSERT_EQ(::pipe(go) + ::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) fault_on_a_short_stack(go[0], ready[1]);
  ::close(ready[1]);  // if the child fails, the parent reads the end of the pipe
  std::uint64_t before = 0;
  ASSERT_EQ(::read(ready[0], &before, sizeof before), static_cast<ssize_t>(sizeof before));
  std::optional<FaultTracer> tracer;
  std::optional<PerfSampler> sampler;
  try {
    sampler.emplace(4000, 16U << 10, UserFaults::kNone, PerfScope{{child}});
    tracer.emplace(FaultTracerOptions{}, child);
  } catch (const MachineError& failure) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    GTEST_SKIP() << failure.what();
  }
  ASSERT_EQ(::write(go[1], "x", 1), 1);
  int status = 0;
  rusage usage{};
  ASSERT_EQ(::wait4(child, &status, 0, &usage), child);
  ASSERT_EQ(status, 0);
  const FaultData data = tracer->finish();
  ASSERT_EQ(data.processes.size(), 1U);
  EXPECT_EQ(data.processes.front().counts.all() + before,
            static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt));
  EXPECT_GE(data.processes.front().counts.zero_fills, 10 * kPages);
  std::vector<PerfEvent> samples;
  sampler->read(samples);
  EXPECT_GE(samples.size(), 10U);
}

INSTANTIATE_TEST_SUITE_P(ByEitherMethod, FaultTracerTest, testing::Values("tracepoints", "software"));

}  // namespace
}  // namespace zerotax

#include "observe/fault_tracer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"

namespace zerotax {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 2000;

/// A child that shares pages with us, and writes the first `count` of them when it is told to.
class Writer {
 public:
  explicit Writer(std::size_t count) {
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
  ~Writer() { ::munmap(memory_, kPages * kPage); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

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
  Writer writer(1500);
  writer.wait_until_ready();
  FaultTracerOptions options;
  options.interval_s = 0.05;
  options.faults_file = file;
  options.while_running = true;
  std::size_t told = 0;  // by the tracer's thread; read when that has ended
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
  EXPECT_GE(copies, 1500U);  // the kernel may join what lies beside it to the mapping
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
  Writer writer(10);
  writer.wait_until_ready();
  try {
    const FaultTracer tracer({}, writer.pid());
  } catch (const MachineError&) {
  }
  writer.let_write();
}

INSTANTIATE_TEST_SUITE_P(ByEitherMethod, FaultTracerTest, testing::Values("tracepoints", "software"));

}  // namespace
}  // namespace zerotax

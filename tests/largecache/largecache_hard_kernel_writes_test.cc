// Pages that only the kernel has written to, during a system call. User space sees no store to these pages.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <atomic>

#include "largecache_hard_testing.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kWriteSize = kMiB;
const std::size_t kFrom = kMiB / 4;  // the kernel writes the bytes block[kFrom] to block[kFrom + kWritten - 1]
const std::size_t kWritten = kMiB / 8;

/// Makes the kernel write kWritten bytes of 0xab to `there`. If this is impossible here, returns the reason, otherwise
/// "".
using Write = std::string (*)(char* there);

std::string failed(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

// Creates a file of 0xab.
int make_file(int flags) {
  char name[] = "/var/tmp/largecache_hard_XXXXXX";
  const int file = mkstemp(name);
  const std::string contents(kWritten, '\xab');
  if (write(file, contents.data(), kWritten) != static_cast<ssize_t>(kWritten)) return -1;
  fsync(file);
  const int again = open(name, O_RDONLY | O_CLOEXEC | flags);
  unlink(name);
  close(file);
  return again;
}

template <int flags>
std::string read_file(char* there) {
  const int file = make_file(flags);
  if (file < 0) return failed("open");
  const bool whole = read(file, there, kWritten) == static_cast<ssize_t>(kWritten);
  close(file);
  return whole ? "" : failed("read");
}

std::string read_pipe(char* there) {
  int ends[2];
  if (pipe(ends) != 0) return failed("pipe");
  const std::string contents(kPage, '\xab');
  for (std::size_t at = 0; at < kWritten; at += kPage) {
    if (write(ends[1], contents.data(), kPage) != static_cast<ssize_t>(kPage)) return failed("write");
    if (read(ends[0], there + at, kPage) != static_cast<ssize_t>(kPage)) return failed("read");
  }
  close(ends[0]);
  close(ends[1]);
  return "";
}

std::string write_from_a_child(char* there) {
  const pid_t parent = getpid();
  const int status = status_of_child([&] {
    std::string contents(kWritten, '\xab');
    const iovec mine{contents.data(), kWritten};
    const iovec theirs{there, kWritten};
    return process_vm_writev(parent, &mine, 1, &theirs, 1, 0) == static_cast<ssize_t>(kWritten) ? 0 : 1;
  });
  return status == 0 ? "" : "process_vm_writev is not permitted";
}

// Reads once through rings of one entry, by plain system calls (io_uring_setup(2), io_uring(7)).
std::string read_by_ring(char* there) {
  io_uring_params parameters{};
  const int ring = static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters));
  if (ring < 0) return failed("io_uring_setup");
  const int file = make_file(0);
  const auto map = [ring](std::size_t size, std::uint64_t what) {
    return static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, static_cast<off_t>(what)));
  };
  const std::size_t ring_bytes = parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned);
  char* const submissions = map(ring_bytes, IORING_OFF_SQ_RING);
  auto* const entry = reinterpret_cast<io_uring_sqe*>(map(sizeof(io_uring_sqe), IORING_OFF_SQES));
  std::memset(entry, 0, sizeof *entry);
  entry->opcode = IORING_OP_READ;
  entry->fd = file;
  entry->addr = reinterpret_cast<std::uint64_t>(there);
  entry->len = static_cast<std::uint32_t>(kWritten);
  *reinterpret_cast<unsigned*>(submissions + parameters.sq_off.array) = 0;
  reinterpret_cast<std::atomic<unsigned>*>(submissions + parameters.sq_off.tail)->store(1);
  const long done = syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
  munmap(submissions, ring_bytes);
  munmap(entry, sizeof *entry);
  close(file);
  close(ring);
  return done == 1 ? "" : failed("io_uring_enter");
}

struct Writer {
  const char* name;
  Write write;
};
void PrintTo(const Writer& writer, std::ostream* out) { *out << writer.name; }
constexpr Writer kWriters[] = {{"read_of_a_file", &read_file<0>},
                               {"read_past_the_cache", &read_file<O_DIRECT>},
                               {"read_of_a_pipe", &read_pipe},
                               {"io_uring", &read_by_ring},
                               {"process_vm_writev", &write_from_a_child}};

class KernelWrites : public testing::TestWithParam<std::tuple<Way, Writer>> {};

TEST_P(KernelWrites, AreCleared) {
  const auto& [way, writer] = GetParam();
  HardHeap heap(way);
  char* const block = heap.block_with_past(kWriteSize);
  if (const std::string why = writer.write(block + kFrom); !why.empty()) GTEST_SKIP() << why;
  ASSERT_TRUE(all_bytes(block + kFrom, kWritten, 0xab));
  EXPECT_EQ(heap.reuse_of(block, kWriteSize), "");
  EXPECT_EQ(heap.after().altered, 0U);
}

// Nothing reads the pages after the kernel wrote to them. Unread pages must not count as clean.
TEST_P(KernelWrites, AreClearedUnseen) {
  const auto& [way, writer] = GetParam();
  HardHeap heap(way);
  char* const block = heap.block_with_past(kWriteSize);
  if (const std::string why = writer.write(block + kFrom); !why.empty()) GTEST_SKIP() << why;
  heap.deallocate(block);
  EXPECT_TRUE(is_zero(heap.calloc(kWriteSize), kWriteSize));
}

INSTANTIATE_TEST_SUITE_P(All, KernelWrites, testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(kWriters)),
                         [](const auto& all) {
                           return name_of(std::get<0>(all.param)) + "_" + std::get<1>(all.param).name;
                         });

}  // namespace
}  // namespace zerotax::largecache

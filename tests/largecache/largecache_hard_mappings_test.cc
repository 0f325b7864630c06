// Tests in which the program changes the mapping of its own block and then frees the block. The heap must never reuse
// this block or change bytes of other mappings. The next calloc must return zero, writable and private memory.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "largecache_hard_testing.h"

namespace zerotax::largecache {
namespace {

constexpr std::size_t kMappingSize = kMiB / 2;  // a small block, because a page fault takes 20 µs in some virtual
                                                // machines
constexpr std::size_t kMiddle = 160 * kKiB;
constexpr std::size_t kPart = 80 * kKiB;

/// A part of a mapping. The page size is known only when the test runs.
enum class Span { kAll, kFirstPage, kButFirstPage, kPart, kLastPage };
struct Bytes {
  std::size_t from;
  std::size_t count;
};

Bytes bytes_of(Span span) {
  switch (span) {
    case Span::kAll:
      return {0, kMappingSize};
    case Span::kFirstPage:
      return {0, kPage};
    case Span::kButFirstPage:
      return {kPage, kMappingSize - kPage};
    case Span::kPart:
      return {kMiddle, kPart};
    case Span::kLastPage:
      return {kMappingSize - kPage, kPage};
  }
  return {};
}

/// A check to run after the block is freed, such as that a file is unchanged. Returns the problem, or "".
using Aftermath = std::function<std::string()>;
/// Alters a dirty block, and may set the check to run afterwards. If the change is impossible on this machine, returns
/// the reason, otherwise "".
using Deed = std::string (*)(char* block, Aftermath& aftermath);

std::string unless(bool done, const char* what) { return done ? "" : std::string(what) + ": " + std::strerror(errno); }

template <int protection, Span span>
std::string change_protection(char* block, Aftermath& /*unused*/) {
  const auto [from, count] = bytes_of(span);
  return unless(mprotect(block + from, count, protection) == 0, "mprotect");
}

template <int advice, Span span>
std::string advise(char* block, Aftermath& /*unused*/) {
  const auto [from, count] = bytes_of(span);
  return unless(madvise(block + from, count, advice) == 0, "madvise");
}

template <Span span>
std::string lock_in_memory(char* block, Aftermath& /*unused*/) {
  const auto [from, count] = bytes_of(span);
  return unless(syscall(SYS_mlock, block + from, count) == 0, "mlock");  // a sanitizer's mlock() does nothing
}

std::string bind_to_node(char* block, Aftermath& /*unused*/) {
  const unsigned long nodes = 1;
  return unless(syscall(SYS_mbind, block + kMiddle, kPart, 2 /* MPOL_BIND */, &nodes, 2, 0) == 0, "mbind");
}

std::string name_mapping(char* block, Aftermath& /*unused*/) {
  return unless(prctl(0x53564d41 /* PR_SET_VMA */, 0, block + kMappingSize - kPage, kPage, "mine") == 0, "PR_SET_VMA");
}

std::string seal(char* block, Aftermath& /*unused*/) {
  return unless(syscall(462 /* mseal, since Linux 6.10 */, block + kMiddle, kPart, 0) == 0, "mseal");
}

// Maps a file of 0x3c over a part of the block, shared or private. The file's contents must stay the same.
template <int flags>
std::string map_file(char* block, Aftermath& aftermath) {
  char name[] = "/tmp/largecache_hard_XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  const std::string contents(kPart, 0x3c);
  if (write(file, contents.data(), kPart) != static_cast<ssize_t>(kPart)) return "no file";
  if (mmap(block + kMiddle, kPart, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0) == MAP_FAILED) return "mmap";
  aftermath = [file, contents] {
    std::string found(kPart, 0);
    const bool whole = pread(file, found.data(), kPart, 0) == static_cast<ssize_t>(kPart);
    close(file);
    return whole && found == contents ? "" : "the file has changed";
  };
  return "";
}

// Maps shared memory over a part of the block, and the same memory again elsewhere.
std::string map_shared(char* block, Aftermath& aftermath) {
  const int memory = memfd_create("shared", MFD_CLOEXEC);
  if (ftruncate(memory, kPart) != 0) return "no memfd";
  auto* const window = static_cast<char*>(mmap(nullptr, kPart, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
  std::memset(window, 0x3c, kPart);
  const void* mapped = mmap(block + kMiddle, kPart, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0);
  close(memory);
  if (mapped == MAP_FAILED) return "mmap";
  aftermath = [window] {
    const bool kept = all_bytes(window, kPart, 0x3c);
    munmap(window, kPart);
    return kept ? "" : "the shared memory has changed";
  };
  return "";
}

std::string share_all(char* block, Aftermath& /*unused*/) {
  const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(block, kMappingSize, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) return "mmap";
  std::memset(block, 0xab, kMappingSize);
  return "";
}

template <Span span>
std::string unmap(char* block, Aftermath& /*unused*/) {
  const auto [from, count] = bytes_of(span);
  return unless(munmap(block + from, count) == 0, "munmap");
}

std::string move_away(char* block, Aftermath& aftermath) {
  auto* const there = static_cast<char*>(mmap(nullptr, kPart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (mremap(block + kMiddle, kPart, kPart, MREMAP_MAYMOVE | MREMAP_FIXED, there) == MAP_FAILED) return "mremap";
  aftermath = [there] {
    const bool kept = all_bytes(there, kPart, 0xab);
    munmap(there, kPart);
    return kept ? "" : "the pages that were moved away have changed";
  };
  return "";
}

// Registers a userfaultfd and leaves it registered. The handler fills missing pages with 0xee, and lets writes through.
template <std::uint64_t mode>
std::string watch(char* block, Aftermath& aftermath) {
  const int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  if (fd < 0) return std::string("userfaultfd: ") + std::strerror(errno);
  uffdio_api api{};
  api.api = UFFD_API;
  if (mode == UFFDIO_REGISTER_MODE_WP) api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
  uffdio_register watched{};
  watched.range = {reinterpret_cast<std::uint64_t>(block), kMappingSize};
  watched.mode = mode;
  if (ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &watched) != 0) {
    close(fd);
    return std::string("userfaultfd: ") + std::strerror(errno);
  }
  auto stop = std::make_shared<std::atomic<bool>>(false);
  auto handler = std::make_shared<std::thread>([fd, stop] {
    const std::string ones(kPage, '\xee');
    for (; !*stop; usleep(200)) {
      uffd_msg message{};
      if (read(fd, &message, sizeof message) != sizeof message || message.event != UFFD_EVENT_PAGEFAULT) continue;
      const std::uint64_t page = message.arg.pagefault.address & ~std::uint64_t{kPage - 1};
      if ((message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) != 0) {
        uffdio_writeprotect let{{page, kPage}, 0};
        ioctl(fd, UFFDIO_WRITEPROTECT, &let);
      } else {
        uffdio_copy copy{page, reinterpret_cast<std::uint64_t>(ones.data()), kPage, 0, 0};
        ioctl(fd, UFFDIO_COPY, &copy);
      }
    }
    close(fd);
  });
  if (mode == UFFDIO_REGISTER_MODE_WP) {
    uffdio_writeprotect protect{watched.range, UFFDIO_WRITEPROTECT_MODE_WP};
    if (ioctl(fd, UFFDIO_WRITEPROTECT, &protect) != 0) return "UFFDIO_WRITEPROTECT";
  } else {
    madvise(block + kMiddle, kPart, MADV_DONTNEED);
  }
  aftermath = [stop, handler] {
    *stop = true;
    handler->join();
    return "";
  };
  return "";
}

std::string huge_and_not_dumped(char* block, Aftermath& aftermath) {
  const std::string why = advise<MADV_HUGEPAGE, Span::kAll>(block, aftermath);
  return why.empty() ? advise<MADV_DONTDUMP, Span::kPart>(block, aftermath) : why;
}

struct Alteration {
  const char* name;
  Deed deed;
  bool taken_back = false;
};
void PrintTo(const Alteration& alteration, std::ostream* out) { *out << alteration.name; }

constexpr Alteration kAlterations[] = {
    {"all_read_only", &change_protection<PROT_READ, Span::kAll>},
    {"first_page_read_only", &change_protection<PROT_READ, Span::kFirstPage>},
    {"part_read_only", &change_protection<PROT_READ, Span::kPart>},
    {"last_page_read_only", &change_protection<PROT_READ, Span::kLastPage>},
    {"all_without_access", &change_protection<PROT_NONE, Span::kAll>},
    {"first_page_without_access", &change_protection<PROT_NONE, Span::kFirstPage>},
    {"part_without_access", &change_protection<PROT_NONE, Span::kPart>},
    {"last_page_without_access", &change_protection<PROT_NONE, Span::kLastPage>},
    {"part_executable", &change_protection<PROT_READ | PROT_WRITE | PROT_EXEC, Span::kPart>},
    {"part_locked", &lock_in_memory<Span::kPart>},
    {"all_locked", &lock_in_memory<Span::kAll>},
    {"part_not_for_children", &advise<MADV_DONTFORK, Span::kPart>},
    {"part_wiped_in_children", &advise<MADV_WIPEONFORK, Span::kPart>},
    {"all_not_dumped", &advise<MADV_DONTDUMP, Span::kAll>},
    {"all_huge", &advise<MADV_HUGEPAGE, Span::kAll>, true},
    {"part_huge", &advise<MADV_HUGEPAGE, Span::kButFirstPage>, true},
    {"part_never_huge", &advise<MADV_NOHUGEPAGE, Span::kPart>, true},
    {"part_huge_and_not_dumped", &huge_and_not_dumped},
    {"all_mergeable", &advise<MADV_MERGEABLE, Span::kAll>},
    {"part_bound_to_a_node", &bind_to_node},
    {"last_page_named", &name_mapping},
    {"part_sealed", &seal},
    {"part_a_shared_file", &map_file<MAP_SHARED>},
    {"part_a_private_file", &map_file<MAP_PRIVATE>},
    {"part_shared_memory", &map_shared},
    {"all_shared", &share_all},
    {"part_unmapped", &unmap<Span::kPart>},
    {"first_page_unmapped", &unmap<Span::kFirstPage>},
    {"last_page_unmapped", &unmap<Span::kLastPage>},
    {"all_unmapped", &unmap<Span::kAll>},
    {"part_moved_away", &move_away},
    {"all_watched_for_missing_pages", &watch<UFFDIO_REGISTER_MODE_MISSING>},
    {"all_watched_for_writes", &watch<UFFDIO_REGISTER_MODE_WP>},
};

class Altered : public testing::TestWithParam<std::tuple<Way, Alteration>> {};

TEST_P(Altered, BlockIsNeverHandedOutAgain) {
  const auto& [way, alteration] = GetParam();
  HardHeap heap(way);
  char* const block = heap.dirty_block(kMappingSize);
  Aftermath aftermath;
  if (const std::string why = alteration.deed(block, aftermath); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(heap.reuse_of(block, kMappingSize), "");
  EXPECT_EQ(aftermath ? aftermath() : "", "");
  const std::size_t discarded = alteration.taken_back ? 0 : 1;
  EXPECT_EQ(heap.after().altered, discarded);
  EXPECT_EQ(heap.counters().altered, discarded) << "the replacement is an ordinary block";
}

// realloc halves the block in place. The next page becomes the witness of the halved block. This page was altered, too.
TEST_P(Altered, BlockThatIsShortenedIsNotEither) {
  const auto& [way, alteration] = GetParam();
  HardHeap heap(way);
  char* const block = heap.dirty_block(kMappingSize);
  Aftermath aftermath;
  if (const std::string why = alteration.deed(block, aftermath); !why.empty()) GTEST_SKIP() << why;
  ASSERT_TRUE(heap.heap().resize_in_place(block, kMappingSize, kMappingSize / 2));
  const bool shortened = heap.heap().usable_size(block) == kMappingSize / 2;
  EXPECT_EQ(heap.reuse_of(block, kMappingSize / 2), "");
  EXPECT_EQ(aftermath ? aftermath() : "", "");
  const bool only_behind = std::string(alteration.name).starts_with("last_page");
  EXPECT_EQ(heap.after().altered, alteration.taken_back || (shortened && only_behind) ? 0U : 1U);
}

// malloc requests a quarter of a cached block that was altered within this quarter.
TEST_P(Altered, BlockIsNotCutEither) {
  constexpr std::size_t kLong = 32 * kMiB;
  const auto& [way, alteration] = GetParam();
  HardHeap heap(way);
  if (!heap.heap().policy().foresees_growth) GTEST_SKIP() << "this policy cuts no block";
  auto* const block = static_cast<char*>(heap.heap().allocate(kLong, 1, Contents::kAny));
  std::memset(block, 0xab, kMappingSize);
  Aftermath aftermath;
  if (const std::string why = alteration.deed(block, aftermath); !why.empty()) GTEST_SKIP() << why;
  heap.deallocate(block);
  auto* const quarter = static_cast<char*>(heap.heap().allocate(kLong / 4, 1, Contents::kAny));
  std::memset(quarter, 1, kMappingSize);
  EXPECT_EQ(heap.counters().altered, alteration.taken_back ? 0U : 1U);
  heap.deallocate(quarter);
  EXPECT_EQ(aftermath ? aftermath() : "", "");
}

INSTANTIATE_TEST_SUITE_P(All, Altered, testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(kAlterations)),
                         [](const auto& all) {
                           return name_of(std::get<0>(all.param)) + "_" + std::get<1>(all.param).name;
                         });

class Undone : public testing::TestWithParam<Way> {};

// After a change that the program has undone, the block is one mapping again, so the block is reused.
TEST_P(Undone, ChangesOfAMappingAreNone) {
  for (const bool lock : {false, true}) {
    HardHeap heap(GetParam());
    char* const block = heap.dirty_block(kMappingSize);
    if (lock) {
      if (syscall(SYS_mlock, block + kMiddle, kPart) != 0) GTEST_SKIP() << "mlock: " << std::strerror(errno);
      syscall(SYS_munlock, block + kMiddle, kPart);
    } else {
      mprotect(block + kMiddle, kPart, PROT_NONE);
      mprotect(block + kMiddle, kPart, PROT_READ | PROT_WRITE);
    }
    EXPECT_EQ(heap.reuse_of(block, kMappingSize), "");
    EXPECT_EQ(heap.after().altered, 0U);
  }
}

// malloc, too, must return only writable memory.
TEST_P(Undone, OrNotMallocGivesAWritableBlock) {
  HardHeap heap(GetParam());
  char* const block = heap.dirty_block(kMappingSize);
  mprotect(block + kMiddle, kPart, PROT_READ);
  heap.deallocate(block);
  auto* const other = static_cast<char*>(heap.heap().allocate(kMappingSize, 1, Contents::kAny));
  std::memset(other, 1, kMappingSize);
  EXPECT_EQ(heap.counters().altered, 1U);
  heap.deallocate(other);
}

INSTANTIATE_TEST_SUITE_P(All, Undone, testing::ValuesIn(kWays), [](const auto& all) { return name_of(all.param); });

}  // namespace
}  // namespace zerotax::largecache

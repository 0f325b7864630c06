// Measures the cost of each method that finds written pages, and whether the program's system calls still work under
// the method. The benchmark calls the kernel directly and uses nothing of the harness, because os/write_tracker.h lacks
// two of the methods.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

struct Block {
  char* begin;
  std::size_t pages;
  [[nodiscard]] std::size_t bytes() const { return pages * kPage; }
};

/// One method of watching a block. `watch` returns false if the kernel does not support the method.
class Way {
 public:
  virtual ~Way() = default;
  virtual bool watch(const Block& block) = 0;
  /// Returns the number of pages that were written since the last watch().
  virtual std::size_t written(const Block& block) = 0;
};

class Nothing : public Way {
 public:
  bool watch(const Block& /*block*/) override { return true; }
  std::size_t written(const Block& /*block*/) override { return 0; }
};

/// Returns the number of pages of a block that have this bit of pagemap set (Documentation/admin-guide/mm/pagemap.rst).
std::size_t pages_with(unsigned bit, const Block& block) {
  static const int pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::vector<std::uint64_t> entries(block.pages);
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(block.begin) / kPage * sizeof entries[0]);
  if (::pread(pagemap, entries.data(), entries.size() * sizeof entries[0], at) < 0) return 0;
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [&](std::uint64_t entry) { return (entry >> bit & 1) != 0; }));
}

/// The soft-dirty bits (Documentation/admin-guide/mm/soft-dirty.rst).
class SoftDirty : public Way {
 public:
  bool watch(const Block& block) override {
    const int clear = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    const bool cleared = ::write(clear, "4", 1) == 1;
    ::close(clear);
    if (!known_) {
      // A kernel without soft-dirty bits accepts the request, but sets no bit.
      const std::size_t before = written(block);
      block.begin[0] = 1;
      known_ = before == 0 && written(block) == 1;
    }
    return cleared && known_;
  }
  std::size_t written(const Block& block) override { return pages_with(55, block); }

 private:
  bool known_ = false;
};

bool supported(int fault, std::uint64_t features) {
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  return ::ioctl(fault, UFFDIO_API, &api) == 0;
}

bool protect(int fault, const Block& block) {
  uffdio_writeprotect range{};
  range.range = {reinterpret_cast<std::uintptr_t>(block.begin), block.bytes()};
  range.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  return ::ioctl(fault, UFFDIO_WRITEPROTECT, &range) == 0;
}

bool register_block(int fault, const Block& block) {
  uffdio_register range{};
  range.range = {reinterpret_cast<std::uintptr_t>(block.begin), block.bytes()};
  range.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(fault, UFFDIO_REGISTER, &range) == 0;
}

int open_fault() {
  return static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* USER_MODE_ONLY */));
}

/// Method userfaultfd: the kernel itself lifts the protection (UFFD_FEATURE_WP_ASYNC, since Linux 6.7). Bit 57 of a
/// page in pagemap means that the page is still protected.
class Asynchronous : public Way {
 public:
  bool watch(const Block& block) override {
    if (fault_ < 0) {
      fault_ = open_fault();
      if (fault_ < 0 || !supported(fault_, std::uint64_t{1} << 15 | std::uint64_t{1} << 13)) return false;
      if (!register_block(fault_, block)) return false;
    }
    return protect(fault_, block);
  }
  std::size_t written(const Block& block) override { return block.pages - pages_with(57, block); }
  ~Asynchronous() override { ::close(fault_); }

 private:
  int fault_ = -1;
};

/// Method userfaultfd with a thread: the thread receives each first write, and lifts the protection (since Linux 5.7).
class Synchronous : public Way {
 public:
  bool watch(const Block& block) override {
    written_ = 0;
    if (fault_ < 0) {
      fault_ = open_fault();
      if (fault_ < 0 || !supported(fault_, UFFD_FEATURE_PAGEFAULT_FLAG_WP)) return false;
      if (!register_block(fault_, block)) return false;
      thread_ = std::thread([this] { lift(); });
    }
    return protect(fault_, block);
  }
  std::size_t written(const Block& /*block*/) override { return written_; }
  ~Synchronous() override {
    done_ = true;
    if (thread_.joinable()) thread_.join();
    ::close(fault_);
  }

 private:
  void lift() {
    while (!done_) {
      pollfd ready{fault_, POLLIN, 0};
      uffd_msg message{};
      if (::poll(&ready, 1, 50) <= 0 || ::read(fault_, &message, sizeof message) != sizeof message) continue;
      ++written_;
      uffdio_writeprotect page{};
      page.range = {message.arg.pagefault.address & ~(kPage - 1), kPage};
      ::ioctl(fault_, UFFDIO_WRITEPROTECT, &page);
    }
  }

  int fault_ = -1;
  std::atomic<bool> done_ = false;
  std::atomic<std::size_t> written_ = 0;
  std::thread thread_;
};

/// Method mprotect: a handler of SIGSEGV lifts the protection.
class Protection : public Way {
 public:
  bool watch(const Block& block) override {
    written_pages = 0;
    struct sigaction action {};
    action.sa_sigaction = lift;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGSEGV, &action, nullptr) == 0 && ::mprotect(block.begin, block.bytes(), PROT_READ) == 0;
  }
  std::size_t written(const Block& block) override {
    ::mprotect(block.begin, block.bytes(), PROT_READ | PROT_WRITE);
    return written_pages;
  }

 private:
  static void lift(int /*signal*/, siginfo_t* information, void* /*context*/) {
    written_pages = written_pages + 1;
    auto address = reinterpret_cast<std::uintptr_t>(information->si_addr) & ~(kPage - 1);
    ::mprotect(reinterpret_cast<void*>(address), kPage, PROT_READ | PROT_WRITE);
  }
  static volatile std::sig_atomic_t written_pages;
};
volatile std::sig_atomic_t Protection::written_pages = 0;

/// Returns whether read(2) can write into a watched page.
bool system_calls_work(Way& way, const Block& block) {
  if (!way.watch(block)) return false;
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const bool works = ::read(zero, block.begin + kPage, kPage) == static_cast<ssize_t>(kPage);
  ::close(zero);
  way.written(block);
  return works;
}

struct Found {
  double microseconds;  ///< times to watch the block, to write to it, and to count the written pages
  bool exact;
};

Found round_of(Way& way, const Block& block, std::size_t every) {
  const auto begin = std::chrono::steady_clock::now();
  way.watch(block);
  for (std::size_t page = 0; page < block.pages; page += every) block.begin[page * kPage] = 2;
  const std::size_t found = way.written(block);
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  return {taken.count(), found == (block.pages + every - 1) / every};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Kind>
std::unique_ptr<Way> make() {
  return std::make_unique<Kind>();
}

struct Row {
  const char* name;
  std::unique_ptr<Way> (*make)();
};
constexpr Row kRows[] = {{"nothing", make<Nothing>},
                         {"userfaultfd, asynchronous", make<Asynchronous>},
                         {"soft-dirty bits", make<SoftDirty>},
                         {"userfaultfd, a thread that lifts", make<Synchronous>},
                         {"mprotect, a handler of SIGSEGV", make<Protection>}};

void print_row(const Row& row, const Block& block, int rounds, std::vector<double>& alone) {
  const std::unique_ptr<Way> way = row.make();
  if (!way->watch(block)) {
    fmt::print("{:33} n/a: this kernel does not have it\n", row.name);
    return;
  }
  way->written(block);
  std::string text;
  bool exact = true;
  for (std::size_t part = 0; part < 2; ++part) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      const Found found = round_of(*way, block, part == 0 ? 1 : 100);
      times.push_back(found.microseconds);
      exact = exact && found.exact;
    }
    const double taken = median(times);
    if (alone.size() < 2) alone.push_back(taken);
    text += fmt::format("{:10.0f} µs {:8.1f}×", taken, taken / alone[part]);
  }
  const bool none = std::string_view(row.name) == "nothing";
  fmt::print("{:33}{} {:>7} {:>10}\n", row.name, text,
             none    ? ""
             : exact ? "yes"
                     : "no",
             system_calls_work(*way, block) ? "work" : "fail");
}

}  // namespace

int main(int count, char** words) {
  const bool smoke = count > 1 && std::string_view(words[1]) == "--smoke";
  const std::size_t pages = smoke ? 64 : 25'600;
  void* memory = ::mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  ::madvise(memory, pages * kPage, MADV_NOHUGEPAGE);
  const Block block{static_cast<char*>(memory), pages};
  std::memset(block.begin, 1, block.bytes());
  fmt::print("{:33}{:>22}{:>22} {:>9} {:>9}\n", fmt::format("{} pages are watched", pages), "all written",
             "1 % written", "exact", "read(2)");
  std::vector<double> alone;
  for (const Row& row : kRows) print_row(row, block, smoke ? 1 : 15, alone);
  return 0;
}

// Remedies, in which a helper thread makes the parent's pages writable again. The writers then take no fault for each
// page.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "os/unique_fd.h"
#include "snapshot/process/copying.h"
#include "snapshot/process/forked_child.h"

namespace zerotax::snapshot {
namespace {

/// Makes one call for the whole array. The kernel walks the array once, without an exception for each page.
class ForkPopulate final : public RemediedChild {
 public:
  [[nodiscard]] std::string why_not() const override { return why_no_populating(); }

 private:
  std::uint64_t make_writable(const Job& job) override {
    return populate_for_writing(job.at(0), job.array.bytes()) ? 0 : job.array.bytes();
  }
};

const Registration<ForkPopulate> populate(
    "fork_populate", "fork; after the child's end a helper thread makes the array writable (MADV_POPULATE_WRITE)", {},
    Kind::kPublic, "fork");

/// Writes to each page without changing it, for kernels without MADV_POPULATE_WRITE. The helper takes as many faults as
/// the writers would, but no writer waits for the helper.
class ForkTouch final : public RemediedChild {
  std::uint64_t make_writable(const Job& job) override {
    for (std::uint64_t offset = 0; offset < job.array.bytes(); offset += page_bytes()) {
      unsigned char* byte = job.at(offset);
      unsigned char value = __atomic_load_n(byte, __ATOMIC_RELAXED);
      // Writes the value again, unless a writer has changed it in the meantime.
      __atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return 0;
  }
};

const Registration<ForkTouch> touch("fork_touch", "fork; after the child's end a helper thread writes to each page", {},
                                    Kind::kRemedy, "fork");

constexpr int kMore = PROT_READ | PROT_WRITE | PROT_EXEC;
constexpr int kUsual = PROT_READ | PROT_WRITE;

/// Changes the array's protection, and changes it back. When protection changes, the kernel makes pages writable that
/// it knows to belong to this process alone (can_change_pte_writable(), mm/mprotect.c). But a fork removes that
/// knowledge, and only a write fault restores it. This remedy should therefore have no effect. The array is never
/// read-only, because the writers are running.
class ForkMprotect final : public RemediedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    return why_not_on_memory(page_bytes(), "mprotect",
                             [](void* page) { return ::mprotect(page, page_bytes(), kMore) == 0; });
  }

 private:
  std::uint64_t make_writable(const Job& job) override {
    const bool changed =
        ::mprotect(job.at(0), job.array.bytes(), kMore) == 0 && ::mprotect(job.at(0), job.array.bytes(), kUsual) == 0;
    return changed ? 0 : job.array.bytes();
  }
};

const Registration<ForkMprotect> protect(
    "fork_mprotect", "fork; after the child's end a helper thread changes the array's protection, and back", {},
    Kind::kRemedy, "fork");

constexpr int kCollapse = 25;  // MADV_COLLAPSE, include/uapi/asm-generic/mman-common.h
constexpr int kTrials = 3;     // the call fails with EAGAIN if a page is busy for a moment

bool collapse(void* begin) {
  for (int i = 0; i < kTrials; ++i) {
    if (::madvise(begin, huge_page_bytes(), kCollapse) == 0) return true;
    if (errno != EAGAIN) return false;
  }
  return false;
}

/// Moves the array to huge pages. All of the memory is copied once more and is then writable, with fewer entries for
/// the next fork to copy. Pages that do not fill a huge page, or cannot become one, are only made writable.
class ForkCollapse final : public RemediedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    const std::string why = why_not_on_memory(huge_page_bytes(), "MADV_COLLAPSE (Linux 6.1)", [](void* begin) {
      *static_cast<unsigned char*>(begin) = 1;
      return collapse(begin);
    });
    return why.empty() ? why_no_populating() : why;
  }

 private:
  std::uint64_t make_writable(const Job& job) override {
    std::uint64_t failed = 0;
    for (std::uint64_t offset = 0; offset < job.array.bytes(); offset += huge_page_bytes()) {
      const std::uint64_t bytes = std::min(huge_page_bytes(), job.array.bytes() - offset);
      if (bytes == huge_page_bytes() && collapse(job.at(offset))) continue;
      populate_for_writing(job.at(offset), bytes);
      failed += bytes;
    }
    return failed;
  }
};

const Registration<ForkCollapse> collapsed(
    "fork_collapse", "fork; after the child's end a helper thread moves the array to huge pages (MADV_COLLAPSE)", {},
    Kind::kRemedy, "fork");

/// Like fork_munmap, but the child reports each batch as soon as the batch is unmapped. A helper thread of the parent
/// then makes the batch writable at once, so that later writers neither copy nor fault.
class MunmapPopulate final : public ForkedChild {
 public:
  [[nodiscard]] std::string why_not() const override { return why_no_populating(); }
  [[nodiscard]] const Helper* helper() const override { return &helper_; }

  void begin(Job& job) override {
    int ends[2];
    if (::pipe2(&ends[0], O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    from_child_ = UniqueFd(ends[0]);
    to_parent_ = UniqueFd(ends[1]);
    ForkedChild::begin(job);
    to_parent_.reset();  // closes the parent's end, because otherwise the helper would wait forever after the child's
                         // end
    helper_.start([this, &job] { return follow(job); });
  }

  void held(Job& job) override {
    wait_until([&] { return ended_ || followed_ >= job.parameters.held_batches(); });
  }

  void after_end(Job&) override { helper_.join(); }

 private:
  void after_batch(const Job& job, Batch batch) override {
    if (!unmap(job, batch)) return;
    // A message is shorter than PIPE_BUF, so messages of several threads do not mix (pipe(7)).
    while (::write(to_parent_.get(), &batch, sizeof batch) < 0 && errno == EINTR) {
    }
  }

  std::uint64_t follow(const Job& job) {
    std::uint64_t failed = 0;
    Batch batch{};
    while (true) {
      const ssize_t got = ::read(from_child_.get(), &batch, sizeof batch);
      if (got < 0 && errno == EINTR) continue;
      if (got != static_cast<ssize_t>(sizeof batch)) break;
      if (!populate_for_writing(job.at(batch.offset), batch.bytes)) failed += batch.bytes;
      ++followed_;
    }
    ended_ = true;
    return failed;
  }

  UniqueFd from_child_;
  UniqueFd to_parent_;
  Helper helper_;
  std::atomic<std::uint64_t> followed_ = 0;
  std::atomic<bool> ended_ = false;
};

const Registration<MunmapPopulate> follow(
    "munmap_populate", "fork_munmap; a helper thread makes each batch writable as soon as the child unmapped it", {},
    Kind::kRemedy, "fork_munmap");

}  // namespace
}  // namespace zerotax::snapshot

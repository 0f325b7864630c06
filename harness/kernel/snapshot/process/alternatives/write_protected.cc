#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "os/page.h"
#include "os/unique_fd.h"
#include "snapshot/process/alternative.h"
#include "snapshot/process/copying.h"

namespace zerotax::snapshot {
namespace {

constexpr int kUserModeOnly = 1;  // UFFD_USER_MODE_ONLY, include/uapi/linux/userfaultfd.h
constexpr int kWaitMs = 5;

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

/// Write protection by userfaultfd (needs Linux 5.7 or later). A thread that writes to a protected page waits, and a
/// message reports the write. Only writes in user mode are covered, so no privilege is needed (UFFD_USER_MODE_ONLY,
/// since Linux 5.11). Source: Documentation/admin-guide/mm/userfaultfd.rst.
class WriteProtection {
 public:
  WriteProtection();

  /// The reason why write protection is unavailable here; empty if it is available.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// protect() and release() throw std::runtime_error.
  void protect(AddressRange range);
  /// Removes the protection, and resumes the writers that wait in this range.
  void release(AddressRange range) const;
  /// The address of a write that waits; no value if there was none within some milliseconds.
  [[nodiscard]] std::optional<std::uintptr_t> next_write() const;

 private:
  UniqueFd fd_;
  std::string why_not_;
};

WriteProtection::WriteProtection()
    : fd_(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly))) {
  if (!fd_) {
    why_not_ = std::string("userfaultfd is not permitted, or missing from this kernel: ") + std::strerror(errno);
    return;
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
  if (::ioctl(fd_.get(), UFFDIO_API, &api) != 0) {
    why_not_ = "this kernel's userfaultfd has no write protection (needs Linux 5.7 or later)";
    fd_.reset();
  }
}

void WriteProtection::protect(AddressRange range) {
  uffdio_register registration{};
  registration.range = {range.begin, range.bytes()};
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  if (::ioctl(fd_.get(), UFFDIO_REGISTER, &registration) != 0) fail("UFFDIO_REGISTER");
  uffdio_writeprotect protection{};
  protection.range = {range.begin, range.bytes()};
  protection.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  if (::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protection) != 0) fail("UFFDIO_WRITEPROTECT");
}

void WriteProtection::release(AddressRange range) const {
  uffdio_writeprotect protection{};
  protection.range = {range.begin, range.bytes()};
  // EAGAIN means that the mappings of the process are changing right now, for example in a fork.
  while (::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protection) != 0) {
    if (errno != EAGAIN) fail("UFFDIO_WRITEPROTECT");
  }
}

std::optional<std::uintptr_t> WriteProtection::next_write() const {
  uffd_msg message{};
  const ssize_t got = ::read(fd_.get(), &message, sizeof message);
  if (got == static_cast<ssize_t>(sizeof message)) {
    if (message.event != UFFD_EVENT_PAGEFAULT) return {};
    return static_cast<std::uintptr_t>(message.arg.pagefault.address);
  }
  pollfd wait{fd_.get(), POLLIN, 0};
  ::poll(&wait, 1, kWaitMs);
  return {};
}

/// Protects the array at one instant, after which threads of the same process copy it. A write to a page that is not
/// copied yet waits until the page is copied. QEMU's background snapshot works like this (migration/ram.c).
class UffdWp final : public Alternative {
 public:
  [[nodiscard]] std::string why_not() const override { return protection_.why_not(); }

  void begin(Job& job) override {
    job_ = &job;
    claims_.emplace(job.parameters.pages());
    protection_.protect(job.array);
    handler_ = std::thread([this] { serve(); });
    checkpointers_.emplace(job, [this](Batch batch) { copy(batch); });
  }

  void finish(Job& job) override {
    checkpointers_->join();
    // The protection is gone. Only a write that was being handled when its batch was released may still wait.
    done_ = true;
    handler_.join();
    protection_.release(job.array);
  }

 private:
  [[nodiscard]] AddressRange range(Batch part) const {
    return {job_->array.begin + part.offset, job_->array.begin + part.offset + part.bytes};
  }

  void copy(Batch batch) {
    for (std::uint64_t offset = batch.offset; offset < batch.offset + batch.bytes; offset += page_bytes()) {
      copy_page(offset);
    }
    // Pages that the handler is copying must be complete before their writers resume.
    for (std::uint64_t offset = batch.offset; offset < batch.offset + batch.bytes; offset += page_bytes()) {
      claims_->wait(offset / page_bytes());
    }
    protection_.release(range(batch));
  }

  bool copy_page(std::uint64_t offset) {
    const std::uint64_t page = offset / page_bytes();
    if (!claims_->claim(page)) return claims_->is_done(page);
    copy_bytes(*job_, {offset, page_bytes()});
    claims_->done(page);
    return true;
  }

  /// Copies the page of each write that waits. A page that a checkpointer is copying is released with its batch.
  void serve() {
    while (!done_) {
      const auto address = protection_.next_write();
      if (!address) continue;
      const std::uint64_t offset = page_floor(*address) - job_->array.begin;
      if (copy_page(offset)) protection_.release(range({offset, page_bytes()}));
    }
  }

  WriteProtection protection_;
  Job* job_ = nullptr;
  std::optional<Claims> claims_;
  std::optional<Checkpointers> checkpointers_;
  std::thread handler_;
  std::atomic<bool> done_ = false;
};

// A fault on a protected page does not mean that another process shares the page.
const Registration<UffdWp> registration("uffd_wp",
                                        "write protection by userfaultfd; threads copy, a write waits for its page",
                                        {.told_by_sharing = false});

}  // namespace
}  // namespace zerotax::snapshot

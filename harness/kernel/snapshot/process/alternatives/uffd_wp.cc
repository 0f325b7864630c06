#include <optional>
#include <thread>

#include "snapshot/process/alternative.h"
#include "snapshot/process/checkpointers.h"
#include "snapshot/process/claims.h"
#include "snapshot/process/write_protection.h"

namespace snapshot {
namespace {

/// The array is write-protected for one instant, and threads of the same process copy it; a write to a page that is not
/// copied yet waits until it is. As QEMU's background snapshot does (migration/ram.c).
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
    // The protection is gone, so no write waits but one that was being handled when its batch was released.
    done_ = true;
    handler_.join();
    protection_.release(job.array);
  }

 private:
  [[nodiscard]] zerotax::AddressRange range(Batch part) const {
    return {job_->array.begin + part.offset, job_->array.begin + part.offset + part.bytes};
  }

  void copy(Batch batch) {
    for (std::uint64_t offset = batch.offset; offset < batch.offset + batch.bytes; offset += zerotax::page_bytes()) {
      copy_page(offset);
    }
    // Pages that the handler has in hand must be copied before their writers resume.
    for (std::uint64_t offset = batch.offset; offset < batch.offset + batch.bytes; offset += zerotax::page_bytes()) {
      claims_->wait(offset / zerotax::page_bytes());
    }
    protection_.release(range(batch));
  }

  bool copy_page(std::uint64_t offset) {
    const std::uint64_t page = offset / zerotax::page_bytes();
    if (!claims_->claim(page)) return claims_->is_done(page);
    copy_bytes(*job_, {offset, zerotax::page_bytes()});
    claims_->done(page);
    return true;
  }

  /// A write waits: its page is copied now. One that a checkpointer is copying is released with its batch.
  void serve() {
    while (!done_) {
      const auto address = protection_.next_write();
      if (!address) continue;
      const std::uint64_t offset = zerotax::page_floor(*address) - job_->array.begin;
      if (copy_page(offset)) protection_.release(range({offset, zerotax::page_bytes()}));
    }
  }

  WriteProtection protection_;
  Job* job_ = nullptr;
  std::optional<Claims> claims_;
  std::optional<Checkpointers> checkpointers_;
  std::thread handler_;
  std::atomic<bool> done_ = false;
};

// A page that waits is nobody else's.
const Registration<UffdWp> registration("uffd_wp",
                                        "write protection by userfaultfd; threads copy, a write waits for its page",
                                        {.told_by_sharing = false});

}  // namespace
}  // namespace snapshot

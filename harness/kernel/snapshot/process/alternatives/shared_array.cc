// Alternatives whose array is a shared mapping, which a fork does not protect.
#include <algorithm>
#include <optional>

#include "snapshot/process/alternative.h"
#include "snapshot/process/copying.h"

namespace zerotax::snapshot {
namespace {

/// Copies on write in the program itself, batch by batch. Before a writer writes to a batch, it copies the batch unless
/// the batch is already copied. There is no fork and no page fault, but each write must check whether its batch is
/// copied.
class CopyFirst final : public Alternative {
 public:
  void prepare(Job& job) override {
    job_ = &job;
    claims_.emplace(job.parameters.batches());
    pages_per_batch_ = job.parameters.batch_bytes / page_bytes();
    job.context = this;
    job.before_write = [](void* self, std::uint64_t page) { static_cast<CopyFirst*>(self)->before_write(page); };
  }
  void begin(Job& job) override {
    active_ = true;
    checkpointers_.emplace(job, [this](Batch batch) { copy(batch.offset / job_->parameters.batch_bytes); });
  }
  void finish(Job&) override { checkpointers_->join(); }

 private:
  void before_write(std::uint64_t page) {
    if (!active_.load(std::memory_order_relaxed)) return;
    const std::uint64_t batch = page / pages_per_batch_;
    if (!claims_->is_done(batch)) copy(batch);
  }
  void copy(std::uint64_t number) {
    if (!claims_->claim(number)) return claims_->wait(number);
    const Parameters& parameters = job_->parameters;
    const std::uint64_t offset = number * parameters.batch_bytes;
    copy_bytes(*job_, {offset, std::min(parameters.batch_bytes, parameters.array_bytes - offset)});
    claims_->done(number);
  }

  Job* job_ = nullptr;
  std::optional<Claims> claims_;
  std::uint64_t pages_per_batch_ = 1;
  std::atomic<bool> active_ = false;
  std::optional<Checkpointers> checkpointers_;
};

const Registration<CopyFirst> copy_first("copy_first", "MAP_SHARED array; writers copy a batch before they write to it",
                                         {.shared_array = true});

/// A shared mapping is never copied on write, so a reader sees writes as they happen. The snapshot is correct only
/// because no thread writes while the private copy is made.
class SharedStop final : public Alternative {
 public:
  void begin(Job& job) override {
    Job now = job;
    now.parameters.hold = -1;  // there are no writers to wait for
    Checkpointers(now, [&](Batch batch) { copy_bytes(now, batch); }).join();
  }
};

const Registration<SharedStop> shared_stop("shared_stop",
                                           "MAP_SHARED array; the writers stand still while it is copied",
                                           {.shared_array = true});

}  // namespace
}  // namespace zerotax::snapshot

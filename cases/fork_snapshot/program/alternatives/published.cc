// The benchmark as it was published, what it is compared with, and what its author meant it to be.
#include "forked_child.h"
#include "verify.h"

namespace snapshot {
namespace {

/// Its child is forked before the writers start. Both arrays are of `new std::array<…>()`, which is operator new and
/// then memset: the parent has written zeros to all of the destination, so that the child copies pages of zeros before
/// it writes to them. And an array of operator new does not begin at a page in most allocators: munmap then fails with
/// EINVAL, which the program does not look at.
class Published : public ForkedChild {
 public:
  [[nodiscard]] bool begins_first() const override { return true; }
  [[nodiscard]] bool wants_array_as_allocated() const override { return true; }
  [[nodiscard]] Destination destination() const override { return Destination::kZeroed; }

 private:
  void copy(const Job& job, Batch batch) override { copy_bytes(job, batch); }
  void after_batch(const Job& job, Batch batch) override { unmap(job, batch); }
  /// Nobody else sees the snapshot. It takes time, and so only where no time is measured.
  void before_exit(const Job& job) override {
    if (!job.parameters.memory) return;
    const Verdict verdict = verify(job, std::vector<Position>(job.parameters.writers));
    job.control->checked = verdict.checked;
    job.control->wrong = verdict.wrong;
    job.control->first_wrong = verdict.first_wrong;
  }
};

/// The array begins at a page, and nobody writes to the destination before the child does.
class PublishedFixed final : public Published {
 public:
  [[nodiscard]] bool wants_array_as_allocated() const override { return false; }
  [[nodiscard]] Destination destination() const override { return Destination::kUntouched; }
};

/// Without WITH_FORK.
class PublishedNone final : public Alternative {
 public:
  [[nodiscard]] bool begins_first() const override { return true; }
  [[nodiscard]] bool wants_array_as_allocated() const override { return true; }
  [[nodiscard]] Destination destination() const override { return Destination::kZeroed; }
  [[nodiscard]] bool takes_snapshot() const override { return false; }
};

/// One byte of all is not as it was, and only the child can see it.
class PlantedChildTorn final : public Published {
  void copy(const Job& job, Batch batch) override {
    copy_bytes(job, batch);
    if (batch.offset == 0) job.copy[8] ^= 1;
  }
};

constexpr auto kPublished = Registration::Kind::kPublished;
constexpr const char* kBaseline = "published_none";
const Registration published(
    "published", "the published program: fork, then writers; private destination; the child's munmap may fail",
    [] { return std::make_unique<Published>(); }, kPublished, kBaseline);
const Registration fixed(
    "published_fixed", "the same, the array at a page, so that munmap works, and the destination untouched",
    [] { return std::make_unique<PublishedFixed>(); }, kPublished, kBaseline);
const Registration torn(
    "planted_child_torn", "wrong", [] { return std::make_unique<PlantedChildTorn>(); }, Registration::Kind::kPlanted);
const Registration none(
    kBaseline, "the published program without its fork", [] { return std::make_unique<PublishedNone>(); }, kPublished,
    kBaseline);

}  // namespace
}  // namespace snapshot

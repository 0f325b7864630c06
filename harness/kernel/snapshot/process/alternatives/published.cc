// The benchmark as it was published, what it is compared with, and what its author meant it to be.
#include "snapshot/process/forked_child.h"
#include "snapshot/process/verify.h"

namespace snapshot {
namespace {

/// Its child is forked before the writers start. Both arrays are of `new std::array<…>()`, which is operator new and
/// then memset: the parent has written zeros to all of the destination, so that the child copies pages of zeros before
/// it writes to them. And an array of operator new does not begin at a page in most allocators: munmap then fails with
/// EINVAL, which the program does not look at.
class Published : public ForkedChild {
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

/// One byte of all is not as it was, and only the child can see it.
class PlantedChildTorn final : public Published {
  void copy(const Job& job, Batch batch) override {
    copy_bytes(job, batch);
    if (batch.offset == 0) job.copy[8] ^= 1;
  }
};

using Destination = Facts::Destination;
constexpr auto kPublished = Kind::kPublished;
constexpr const char* kBaseline = "published_none";
constexpr Facts kAsPublished{.array_as_allocated = true, .destination = Destination::kZeroed, .begins_first = true};

const Registration<Published> published(
    "published", "the published program: fork, then writers; private destination; the child's munmap may fail",
    kAsPublished, kPublished, kBaseline);
// Nobody writes to the destination before the child does.
const Registration<Published> fixed(
    "published_fixed", "the same, the array at a page, so that munmap works, and the destination untouched",
    {.destination = Destination::kUntouched, .begins_first = true}, kPublished, kBaseline);
const Registration<PlantedChildTorn> torn("planted_child_torn", "wrong", kAsPublished, Kind::kPlanted);
// Without WITH_FORK.
const Registration<Alternative> none(
    kBaseline, "the published program without its fork",
    {.array_as_allocated = true, .destination = Destination::kZeroed, .begins_first = true, .takes_snapshot = false},
    kPublished, kBaseline);

}  // namespace
}  // namespace snapshot

// Alternatives in which a forked child takes the snapshot: it keeps the copied pages, or gives them back. The runs
// without a fork, with which these are compared, are here too.
#include <sys/mman.h>

#include <fstream>
#include <stdexcept>

#include "snapshot/process/forked_child.h"

namespace zerotax::snapshot {
namespace {

const Registration<ForkedChild> plain("fork", "a forked child copies the array, and ends", {});

/// A page that the child has no more is the parent's alone, which then writes to it without a copy.
class ForkMunmap final : public ForkedChild {
  void after_batch(const Job& job, Batch batch) override { unmap(job, batch); }
};

const Registration<ForkMunmap> munmapped("fork_munmap", "the child unmaps each batch that it has copied", {});

/// As with munmap, but the mapping stays: nothing is split, and an allocator's heap may lie there.
class ForkDontneed final : public ForkedChild {
  void after_batch(const Job& job, Batch batch) override {
    ::madvise(job.at(batch.offset), batch.bytes, MADV_DONTNEED);
  }
};

const Registration<ForkDontneed> dontneed("fork_dontneed", "the child gives each batch back with MADV_DONTNEED", {});

/// Fewer entries of page tables to copy in fork; a write still copies 4 KiB (Linux 5.8), and splits the huge page.
class ForkHuge final : public ForkedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    std::string setting;
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!std::getline(file, setting)) return "this kernel has no transparent huge pages";
    return setting.find("[never]") == std::string::npos ? "" : "transparent huge pages are set to never";
  }
  void prepare(Job& job) override {
    if (::madvise(job.at(0), job.array.bytes(), MADV_HUGEPAGE) != 0) throw std::runtime_error("MADV_HUGEPAGE failed");
  }
};

// One fault brings 512 pages: who shares them says little.
const Registration<ForkHuge> huge("fork_huge", "fork, the array in huge pages (MADV_HUGEPAGE)",
                                  {.told_by_sharing = false});

/// Its child is forked before the writers start. Both arrays are of `new std::array<…>()`, which is operator new and
/// then memset: the parent has written zeros to all of the destination, so that the child copies pages of zeros before
/// it writes to them. And an array of operator new does not begin at a page in most allocators: munmap then fails with
/// EINVAL, which the program does not look at.
class Published : public ForkedChild {
  void copy(const Job& job, Batch batch) override { copy_bytes(job, batch); }
  void after_batch(const Job& job, Batch batch) override { unmap(job, batch); }
  void before_exit(const Job& job) override { check_unseen(job); }
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
// Without WITH_FORK.
const Registration<Alternative> published_none(
    kBaseline, "the published program without its fork",
    {.array_as_allocated = true, .destination = Destination::kZeroed, .begins_first = true, .takes_snapshot = false},
    kPublished, kBaseline);

/// The baseline for the others: the writers stop and resume, and nothing is copied.
const Registration<Alternative> none("none", "no snapshot", {.takes_snapshot = false});

}  // namespace
}  // namespace zerotax::snapshot

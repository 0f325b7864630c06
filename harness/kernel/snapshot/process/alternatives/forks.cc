// Alternatives in which a forked child takes the snapshot. The child keeps the copied pages, or unmaps them. The
// This file also contains their baselines without a fork.
#include <sys/mman.h>

#include <fstream>
#include <stdexcept>

#include "snapshot/process/forked_child.h"

namespace zerotax::snapshot {
namespace {

const Registration<ForkedChild> plain("fork", "a forked child copies the array, and ends", {});

/// After the child has unmapped a page, the page belongs to the parent alone, which then writes to it without a copy.
class ForkMunmap final : public ForkedChild {
  void after_batch(const Job& job, Batch batch) override { unmap(job, batch); }
};

const Registration<ForkMunmap> munmapped("fork_munmap", "the child unmaps each batch that it has copied", {});

/// Like fork_munmap, but the mapping stays. No mapping is split, and the array may be part of an allocator's heap.
class ForkDontneed final : public ForkedChild {
  void after_batch(const Job& job, Batch batch) override {
    ::madvise(job.at(batch.offset), batch.bytes, MADV_DONTNEED);
  }
};

const Registration<ForkDontneed> dontneed("fork_dontneed", "the child gives each batch back with MADV_DONTNEED", {});

/// With huge pages, fork copies fewer page table entries. A write still copies 4 KiB (since Linux 5.8), and splits the
/// huge page.
class ForkHuge final : public ForkedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    std::string setting;
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!std::getline(file, setting)) return "this kernel has no transparent huge pages";
    return setting.find("[never]") == std::string::npos ? "" : "transparent huge pages are set to 'never'";
  }
  void prepare(Job& job) override {
    if (::madvise(job.at(0), job.array.bytes(), MADV_HUGEPAGE) != 0) throw std::runtime_error("MADV_HUGEPAGE failed");
  }
};

// One fault populates 512 pages, so the number of processes that share a page says little about the fault.
const Registration<ForkHuge> huge("fork_huge", "fork, the array in huge pages (MADV_HUGEPAGE)",
                                  {.told_by_sharing = false});

/// The published program, whose child is forked before the writers start. Both arrays come from `new std::array<…>()`,
/// which is operator new and then memset. The parent has thus written zeros to the whole destination, so the child
/// copies pages of zeros before it writes to them. With most allocators, an array of operator new does not begin at a
/// page boundary. munmap then fails with EINVAL, which the program does not check.
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
// The published program without its two mistakes: the array begins at a page boundary, and only the child writes to the
// destination.
const Registration<Published> fixed(
    "published_fixed", "the same, the array at a page, so that munmap works, and the destination untouched",
    {.destination = Destination::kUntouched, .begins_first = true}, kPublished, kBaseline);
// The published program built without WITH_FORK.
const Registration<Alternative> published_none(
    kBaseline, "the published program without its fork",
    {.array_as_allocated = true, .destination = Destination::kZeroed, .begins_first = true, .takes_snapshot = false},
    kPublished, kBaseline);

/// The baseline of the other alternatives. The writers stop and resume, and nothing is copied.
const Registration<Alternative> none("none", "no snapshot", {.takes_snapshot = false});

}  // namespace
}  // namespace zerotax::snapshot

// Alternatives of fork-snapshot that fail on purpose, so that tests see failures reported. Only builds with tests have
// these alternatives.
#include <csignal>
#include <optional>
#include <stdexcept>
#include <thread>

#include "snapshot/process/alternative.h"
#include "snapshot/process/copying.h"
#include "snapshot/process/forked_child.h"

namespace zerotax::snapshot {
namespace {

/// Copies while the writers write, without protecting anything.
class PlantedLate final : public Alternative {
 public:
  void begin(Job& job) override {
    checkpointers_.emplace(job, [&](Batch batch) {
      // Waits, so that the copy is late whatever the scheduler does.
      if (batch.offset + batch.bytes == job.array.bytes()) {
        wait_until([&] { return job.control->writers_running == 0; });
      }
      copy_bytes(job, batch);
    });
  }
  void finish(Job&) override { checkpointers_->join(); }

 private:
  std::optional<Checkpointers> checkpointers_;
};

class PlantedTorn final : public Alternative {
 public:
  /// Changes one element of the whole snapshot.
  void begin(Job& job) override {
    Checkpointers(job, [&](Batch batch) { copy_bytes(job, batch); }).join();
    job.copy[job.array.bytes() / 2 + 3] ^= 1;
  }
};

class PlantedCrash final : public Alternative {
 public:
  void begin(Job&) override { ::raise(SIGSEGV); }
};

class PlantedHang final : public Alternative {
 public:
  void finish(Job&) override {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
};

/// Fails in begin(), because the calls of an alternative, such as fork, may fail at any time.
class PlantedFailing final : public Alternative {
 public:
  void begin(Job&) override { throw std::runtime_error("it had to fail"); }
};

/// Kills the child before it has copied half of the array.
class PlantedKilled final : public ForkedChild {
  void after_batch(const Job&, Batch) override { ::raise(SIGKILL); }
};

/// Changes one byte of the whole snapshot, which only the child can see.
class PlantedChildTorn final : public ForkedChild {
  void copy(const Job& job, Batch batch) override {
    copy_bytes(job, batch);
    if (batch.offset == 0) job.copy[8] ^= 1;
  }
  void after_batch(const Job& job, Batch batch) override { unmap(job, batch); }
  void before_exit(const Job& job) override { check_unseen(job); }
};

class PlantedSkipped final : public Alternative {
 public:
  [[nodiscard]] std::string why_not() const override { return "it never can"; }
};

constexpr auto kPlanted = Kind::kPlanted;
const Registration<PlantedLate> late("planted_late", "wrong", {}, kPlanted);
const Registration<PlantedTorn> torn("planted_torn", "wrong", {}, kPlanted);
const Registration<PlantedCrash> crash("planted_crash", "crashes", {}, kPlanted);
const Registration<PlantedHang> hang("planted_hang", "hangs", {}, kPlanted);
const Registration<PlantedFailing> failing("planted_failing", "fails", {}, kPlanted);
const Registration<PlantedKilled> killed("planted_killed", "its child is killed", {}, kPlanted);
const Registration<PlantedChildTorn> child_torn(
    "planted_child_torn", "wrong",
    {.array_as_allocated = true, .destination = Facts::Destination::kZeroed, .begins_first = true}, kPlanted);
const Registration<PlantedSkipped> skipped("planted_skipped", "cannot", {}, kPlanted);

}  // namespace
}  // namespace zerotax::snapshot

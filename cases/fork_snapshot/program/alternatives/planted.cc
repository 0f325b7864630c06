// Alternatives that go wrong, to see that it is found. They are not listed.
#include <csignal>
#include <optional>
#include <thread>

#include "alternative.h"
#include "checkpointers.h"

namespace snapshot {
namespace {

/// Copies while the writers write, and protects nothing.
class PlantedLate final : public Alternative {
 public:
  void begin(Job& job) override {
    checkpointers_.emplace(job, [&](Batch batch) {
      // So that it is late whatever the scheduler does.
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
  /// One element of all is not as it was.
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

class PlantedSkipped final : public Alternative {
 public:
  [[nodiscard]] std::string why_not() const override { return "it never can"; }
};

constexpr auto kPlanted = Registration::Kind::kPlanted;
const Registration late(
    "planted_late", "wrong", [] { return std::make_unique<PlantedLate>(); }, kPlanted);
const Registration torn(
    "planted_torn", "wrong", [] { return std::make_unique<PlantedTorn>(); }, kPlanted);
const Registration crash(
    "planted_crash", "crashes", [] { return std::make_unique<PlantedCrash>(); }, kPlanted);
const Registration hang(
    "planted_hang", "hangs", [] { return std::make_unique<PlantedHang>(); }, kPlanted);
const Registration skipped(
    "planted_skipped", "cannot", [] { return std::make_unique<PlantedSkipped>(); }, kPlanted);

}  // namespace
}  // namespace snapshot

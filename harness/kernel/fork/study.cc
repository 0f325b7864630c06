#include "fork/study.h"

#include <fmt/format.h>
#include <linux/sched.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "fork/model.h"
#include "observe/kernel_symbols.h"
#include "os/kernel_events.h"
#include "os/memory.h"
#include "run/experiment.h"

namespace zerotax::fork {
namespace {

/// A prime number of nanoseconds, so that samples stay out of step with anything periodic. This period gives about 4000
/// samples a second.
constexpr std::uint64_t kPeriodNs = 250'007;

/// Returns the number of forks that take about `seconds`, but at least five, so that a median is meaningful.
std::uint32_t forks_for(double seconds, double one_ns) {
  return static_cast<std::uint32_t>(std::clamp(seconds * 1e9 / one_ns, 5.0, static_cast<double>(kMostForks)));
}

/// Time from a fork to the end of its child, measured after a few forks to warm up.
double warmed_up_ns(ForkTarget& target) {
  target.clone(3);
  return median(target.clone(5).gone_ns);
}

ForkTargetSize populated(std::uint64_t bytes, const char* kind = "private") { return {bytes, kind, 0, 0, 0}; }

/// A process of the sweep, and whether a quick sweep includes the process. Each process except the base process has
/// more of one resource than the base process, or more of several resources. A quick sweep has two sizes of each
/// resource, further sizes of memory, and three processes that are held back to check the model.
struct PlannedPlace {
  const char* sweep;
  ForkTargetSize size;
  bool quick = false;
};

std::vector<PlannedPlace> all_places() {
  std::vector<PlannedPlace> places{{"base", {}, true}};
  for (std::uint64_t bytes = kMiB; bytes <= 8 * kGiB; bytes *= bytes < kGiB ? 4 : 2) {
    places.push_back({"pages", populated(bytes), bytes == 4 * kMiB || bytes == 64 * kMiB || bytes >= kGiB});
  }
  for (const std::uint64_t bytes : {64 * kMiB, 256 * kMiB, kGiB, 4 * kGiB}) {
    places.push_back({"huge", populated(bytes, "huge"), bytes == 64 * kMiB || bytes == kGiB});
  }
  for (const std::uint64_t count : {100, 300, 1000, 3000}) {
    places.push_back({"mappings", {0, "private", count, 0, 0}, count == 300 || count == 3000});
  }
  for (const std::uint64_t count : {64, 256, 1024, 4096}) {
    places.push_back({"descriptors", {0, "private", 0, count, 0}, count == 256 || count == 4096});
  }
  for (const std::uint64_t count : {8, 32, 128}) {
    places.push_back({"threads", {0, "private", 0, 0, count}, count != 8});
  }
  const char* held = "held back";
  for (const std::uint64_t bytes : {10 * kMiB, 100 * kMiB, 700 * kMiB, 3 * kGiB, 6 * kGiB}) {
    places.push_back({held, populated(bytes), bytes == 100 * kMiB});
  }
  places.push_back({held, populated(700 * kMiB, "huge")});
  places.push_back({held, {0, "private", 600, 0, 0}});
  places.push_back({held, {0, "private", 0, 2000, 0}});
  places.push_back({held, {32 * kMiB, "private", 200, 500, 16}, true});
  places.push_back({held, {500 * kMiB, "private", 1500, 100, 64}, true});
  return places;
}

std::vector<ForkPlace> places_of(const ForkPlan& plan, std::uint64_t most) {
  std::vector<ForkPlace> places;
  for (const PlannedPlace& place : all_places()) {
    if (place.size.populated_bytes > most || (!plan.full && !place.quick)) continue;
    places.push_back({place.sweep, place.size, {}, {}, {}});
  }
  return places;
}

/// Rough estimate of the seconds that a visit to a process takes, used to predict the time left.
double weight_of(const ForkPlace& place) {
  return 0.3 + 1.2 * static_cast<double>(place.size.populated_bytes) / static_cast<double>(kGiB);
}

Item item_of(const std::string& label, double seconds, std::function<void(const Say&)> measure) {
  Item item;
  item.label = label;
  item.seconds = seconds;
  item.measure = std::move(measure);
  return item;
}

class Study {
 public:
  explicit Study(ForkData& data) : data_(data) {
    data_.places = places_of(data_.plan, most());
    table_bytes_ = std::min(kGiB, most());
    data_.ways_bytes = table_bytes_;
  }

  /// Returns false if a signal stopped the study.
  bool run() {
    const double visit = 3 + 4 * (data_.plan.sections ? data_.plan.seconds : 0);
    const double large = 12 * static_cast<double>(table_bytes_) / static_cast<double>(kGiB);
    std::vector<Item> items{
        item_of("smallest", visit, [this](const Say& say) { study_process("smallest", {}, say); }),
        item_of(format_size(table_bytes_), visit + large,
                [this](const Say& say) { study_process(format_size(table_bytes_), populated(table_bytes_), say); }),
        item_of("other ways to make a child", 10, [this](const Say&) { study_ways(); })};
    const std::vector<Item> sweep =
        in_rounds(data_.plan.rounds, data_.places.size(), Rounds::kAlternating, [this](unsigned round, std::size_t i) {
          ForkPlace& place = data_.places[i];
          return item_of(fmt::format("round {}, {}", round + 1, place.sweep), weight_of(place),
                         [this, round, &place](const Say&) { visit_place(place, round); });
        });
    items.insert(items.end(), sweep.begin(), sweep.end());
    return Experiment("forking").run(items);
  }

 private:
  /// The most memory to populate: never more than half of the available memory.
  std::uint64_t most() {
    const std::uint64_t usable = read_memory_state().usable() / 2;
    if (data_.plan.most_bytes <= usable) return data_.plan.most_bytes;
    data_.left_out = fmt::format("sizes above {} were left out: the machine has {} of memory left", format_size(usable),
                                 format_size(2 * usable));
    return usable;
  }

  /// Measures a process. If other work on the machine makes the times of a visit contradict each other, the process is
  /// visited again. The visit whose times agree best is kept.
  void study_process(const std::string& name, const ForkTargetSize& size, const Say& say) {
    const unsigned most_visits = data_.plan.full ? 3 : 2;
    ForkTarget target(size);
    ForkProcess& kept = data_.processes.emplace_back();
    kept.name = name;
    kept.bytes = size.populated_bytes;
    visit(target, kept);
    while (kept.visits < most_visits && apart(visit_estimates(kept)) > kMostApart) {
      say(fmt::format("{}, again: its times contradicted each other", name));
      ForkProcess again;
      again.name = kept.name;
      again.bytes = kept.bytes;
      again.visits = kept.visits;
      visit(target, again);
      const unsigned visits = again.visits;
      if (apart(visit_estimates(again)) < apart(visit_estimates(kept))) kept = std::move(again);
      kept.visits = visits;
    }
  }

  void visit(ForkTarget& target, ForkProcess& process) {
    ++process.visits;
    process.facts = target.facts();
    const double one_ns = warmed_up_ns(target);
    ablate(target, process, one_ns);
    try {
      process.kernel_pages = count_kernel_pages(target);
    } catch (const MachineError& refusal) {
      process.no_kernel_pages = fmt::format("{}; {}", refusal.what(), refusal.remedy());
    }
    try {
      // One second of forks. A fork of a large process takes 30 ms, and a mean needs at least 20 forks.
      process.phases = time_phases(target, std::clamp(forks_for(1, one_ns), 20U, 1000U));
    } catch (const MachineError& refusal) {
      process.no_phases = fmt::format("{}; {}", refusal.what(), refusal.remedy());
    }
    if (data_.plan.sections) {
      try {
        for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{CLONE_VM}}) sample(target, process, flags);
      } catch (const MachineError& refusal) {
        process.no_samples = fmt::format("{}; {}", refusal.what(), refusal.remedy());
      }
    }
    process.end_ns = median(target.clone(forks_for(0.1, one_ns)).call_ns);
  }

  void ablate(ForkTarget& target, ForkProcess& process, double one_ns) {
    process.ablation = {{"fork", 0, {}},
                        {"CLONE_FILES", CLONE_FILES, {}},
                        {"CLONE_FS", CLONE_FS, {}},
                        {"CLONE_VM", CLONE_VM, {}},
                        {"CLONE_VM, CLONE_SIGHAND", CLONE_VM | CLONE_SIGHAND, {}},
                        {"all of these", CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND, {}}};
    const std::uint32_t forks = forks_for(0.1, one_ns);
    for (unsigned round = 0; round < std::max(data_.plan.rounds, 5U); ++round) {
      for (ForkAblation& part : process.ablation)
        part.round_ns.push_back(median(target.clone(forks, part.flags).call_ns));
    }
  }

  /// Alternates sampled and unsampled forks.
  void sample(ForkTarget& target, ForkProcess& process, std::uint64_t flags) {
    ForkSamples samples;
    samples.flags = flags;
    samples.period_ns = kPeriodNs;
    samples.entry_ns = median(target.refused(2000).call_ns);
    target.clone(3, flags);
    const double one_ns = median(target.clone(5, flags).gone_ns);
    const std::uint32_t forks = forks_for(0.25, one_ns);
    std::vector<double> sampled;
    std::vector<double> unsampled;
    std::vector<std::vector<std::uint64_t>> stacks;
    double seconds = 0;
    while (seconds < data_.plan.seconds) {
      {
        KernelSampler sampler(target.pid(), kPeriodNs);
        const ForkTimes times = target.clone(forks, flags);
        sampler.stop();
        sampler.read(stacks);
        samples.lost += sampler.lost();
        sampled.insert(sampled.end(), times.call_ns.begin(), times.call_ns.end());
        seconds += std::accumulate(times.gone_ns.begin(), times.gone_ns.end(), 0.0) / 1e9;
      }
      const ForkTimes times = target.clone(forks, flags);
      unsampled.insert(unsampled.end(), times.call_ns.begin(), times.call_ns.end());
    }
    samples.forks = sampled.size();
    samples.mean_ns = moments(sampled).mean;
    samples.median_ns = median(sampled);
    samples.unsampled_mean_ns = moments(unsampled).mean;
    samples.unsampled_median_ns = median(unsampled);
    keep_clones(stacks, samples);
    process.samples.push_back(std::move(samples));
  }

  void keep_clones(const std::vector<std::vector<std::uint64_t>>& stacks, ForkSamples& samples) {
    if (!kernel_) kernel_ = std::make_unique<KernelSymbols>();
    if (!kernel_->known()) {
      throw MachineError("the kernel hides the names of its functions",
                         "run it as root, or have root run: sysctl kernel.kptr_restrict=0");
    }
    for (const std::vector<std::uint64_t>& stack : stacks) {
      std::vector<std::string> below;
      bool clone = false;
      for (const std::uint64_t address : stack) {  // the innermost function comes first
        std::string name = kernel_->name(address);
        clone = name == "kernel_clone";
        if (clone) break;
        below.push_back(std::move(name));
      }
      if (clone) samples.stacks.emplace_back(below.rbegin(), below.rend());
    }
  }

  void study_ways() {
    const auto measure = [&](const std::string& name, ForkTarget& target, std::uint64_t flags, bool spawn) {
      const auto times = [&](std::uint32_t count) { return spawn ? target.spawn(count) : target.clone(count, flags); };
      times(3);
      const std::uint32_t forks = forks_for(0.3, median(times(5).gone_ns));
      const ForkTimes found = times(forks);
      data_.ways.push_back({name, median(found.call_ns), median(found.gone_ns)});
    };
    for (const auto& [name, kind] : {std::pair{"fork", "private"},
                                     {"fork, huge pages", "huge"},
                                     {"fork, MAP_SHARED", "shared"},
                                     {"fork, MADV_DONTFORK", "dontfork"}}) {
      ForkTarget target(populated(table_bytes_, kind));
      measure(name, target, 0, false);
      if (std::string(kind) != "private") continue;
      measure("vfork", target, CLONE_VM | CLONE_VFORK, false);
      measure("posix_spawn", target, 0, true);
    }
  }

  void visit_place(ForkPlace& place, unsigned round) {
    ForkTarget target(place.size);
    place.facts = target.facts();
    const double one_ns = warmed_up_ns(target);
    place.round_ns.push_back(median(target.clone(forks_for(0.15, one_ns)).call_ns));
    // If counting is refused once, it is always refused.
    if (round == 0 && data_.processes.front().kernel_pages) place.kernel_pages = count_kernel_pages(target);
  }

  ForkData& data_;
  std::unique_ptr<KernelSymbols> kernel_;
  std::uint64_t table_bytes_ = 0;
};

}  // namespace

ForkData study_fork(const ForkPlan& plan) {
  ForkData data;
  data.plan = plan;
  data.complete = Study(data).run();
  return data;
}

}  // namespace zerotax::fork

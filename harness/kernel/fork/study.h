#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fork/kernel_events.h"
#include "fork/target.h"

namespace zerotax::fork {

/// What is measured about fork, and how often.
struct ForkPlan {
  bool full = false;                                  ///< all places of the sweep; else those that the answer needs
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  ///< populated at most
  unsigned rounds = 3;   ///< each place of the sweep is measured in each round, in a process of its own
  double seconds = 0.5;  ///< of CPU time sampled in each process
  bool sections = true;  ///< sample the kernel
};

/// One size of the forking process, round by round.
struct ForkPlace {
  std::string sweep;  ///< base, pages, huge, mappings, descriptors, threads; "held back": not fitted, but predicted
  ForkTargetSize size;
  ForkTargetFacts facts;
  std::vector<double> round_ns;  ///< median time of fork of each round
  std::optional<KernelPages> kernel_pages;
};

/// What the kernel was doing in kernel_clone, of one process and one set of clone flags.
struct ForkSamples {
  std::uint64_t flags = 0;
  std::uint64_t period_ns = 0;
  std::uint64_t forks = 0;
  std::uint64_t lost = 0;
  double mean_ns = 0;  ///< of the clones that were sampled, by the clock
  double median_ns = 0;
  double unsampled_mean_ns = 0;  ///< of as many unsampled ones, in turn with them
  double unsampled_median_ns = 0;
  double entry_ns = 0;                           ///< median of a clone refused at once
  std::vector<std::vector<std::string>> stacks;  ///< of each sample below kernel_clone, outermost first
};

/// A way to make a child, or memory that fork treats differently. Nanoseconds, medians over the rounds' medians.
struct ForkWay {
  std::string name;
  double call_ns = 0;
  double gone_ns = 0;
};

/// clone(2) with some flags, interleaved with the others: the median of each round.
struct ForkAblation {
  std::string name;
  std::uint64_t flags = 0;
  std::vector<double> round_ns;
};

/// Everything about one of the two processes of the table.
struct ForkProcess {
  std::string name;         ///< "smallest", or the size
  std::uint64_t bytes = 0;  ///< populated on purpose
  unsigned visits = 0;      ///< it was measured so often, because the figures of a visit contradicted each other
  ForkTargetFacts facts;
  std::vector<ForkSamples> samples;  ///< of fork, and of a clone that shares memory; empty: `no_samples` says why
  std::string no_samples;
  std::optional<KernelPages> kernel_pages;
  std::string no_kernel_pages;  ///< why there are none
  std::optional<ForkPhaseTimes> phases;
  std::string no_phases;  ///< why there are none
  std::vector<ForkAblation> ablation;
  double end_ns = 0;  ///< median of plain forks at the end of the visit
};

struct ForkData {
  ForkPlan plan;
  std::vector<ForkProcess> processes;
  std::vector<ForkPlace> places;
  std::uint64_t ways_bytes = 0;  ///< populated, in `ways`
  std::vector<ForkWay> ways;
  bool complete = false;
  std::string left_out;  ///< why memory beyond some size was not swept; empty if nothing was
};

/// Measures everything, or as much as it can until a signal asks for an end. Throws MachineError if the forking process
/// cannot be started.
ForkData study_fork(const ForkPlan& plan);

}  // namespace zerotax::fork

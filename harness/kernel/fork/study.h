#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "fork/kernel_events.h"
#include "fork/target.h"

namespace zerotax::fork {

/// The extent of the study of fork.
struct ForkPlan {
  bool full = false;                                  ///< whether to measure all processes of the sweep, not only those
                                                      ///< that the answer needs
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  ///< largest amount of memory to populate
  unsigned rounds = 3;   ///< number of rounds; each round starts and measures every process of the sweep again
  double seconds = 0.5;  ///< CPU time to sample in each process
  bool sections = true;  ///< whether to sample the kernel
};

/// A process of the sweep, and its times round by round.
struct ForkPlace {
  std::string sweep;  ///< base, pages, huge, mappings, descriptors or threads; "held back" for a process that is
                      ///< predicted but not fitted
  ForkTargetSize size;
  ForkTargetFacts facts;
  std::vector<double> round_ns;  ///< median time of fork in each round
  std::optional<KernelPages> kernel_pages;
};

/// Samples of the kernel's work in kernel_clone, for one process and one set of clone flags.
struct ForkSamples {
  std::uint64_t flags = 0;
  std::uint64_t period_ns = 0;
  std::uint64_t forks = 0;
  std::uint64_t lost = 0;
  double mean_ns = 0;  ///< mean of the sampled clones, by the clock
  double median_ns = 0;
  double unsampled_mean_ns = 0;  ///< mean of an equal number of unsampled clones, which alternate with them
  double unsampled_median_ns = 0;
  double entry_ns = 0;                           ///< median time of a clone that the kernel refuses at once
  std::vector<std::vector<std::string>> stacks;  ///< the functions below kernel_clone in each sample, outermost first
};

struct ForkWay {
  RESULT("way", "A way to create a child, or a kind of memory that fork treats differently.");
  FIELD(std::string, name, "Name of the way to create a child.");
  FIELD(double, call_ns, "Median time of the call in the parent, in nanoseconds.");
  FIELD(double, gone_ns,
        "Median time from the beginning of the call until the parent has waited for the child, in nanoseconds.");
};

/// Times of clone(2) with one set of flags: the median of each round. The sets of flags take turns.
struct ForkAblation {
  std::string name;
  std::uint64_t flags = 0;
  std::vector<double> round_ns;
};

/// All results of one of the two processes of the table.
struct ForkProcess {
  std::string name;         ///< "smallest", or the populated size
  std::uint64_t bytes = 0;  ///< bytes that the process populates on request
  unsigned visits = 0;      ///< number of visits; more than one if the times of a visit contradicted each other
  ForkTargetFacts facts;
  std::vector<ForkSamples> samples;  ///< samples of fork, and of a clone that shares memory; if empty, `no_samples` has
                                     ///< the reason
  std::string no_samples;
  std::optional<KernelPages> kernel_pages;
  std::string no_kernel_pages;  ///< reason why `kernel_pages` is missing
  std::optional<ForkPhaseTimes> phases;
  std::string no_phases;  ///< reason why `phases` is missing
  std::vector<ForkAblation> ablation;
  double end_ns = 0;  ///< median of plain forks at the end of the visit
};

struct ForkData {
  ForkPlan plan;
  std::vector<ForkProcess> processes;
  std::vector<ForkPlace> places;
  std::uint64_t ways_bytes = 0;  ///< memory populated for `ways`
  std::vector<ForkWay> ways;
  bool complete = false;
  std::string left_out;  ///< reason why sizes above some limit were left out; empty if none was left out
};

/// Measures everything, or stops early if a signal asks for it. Throws MachineError if the forking process cannot be
/// started.
ForkData study_fork(const ForkPlan& plan);

}  // namespace zerotax::fork

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/json.h"
#include "fork/model.h"
#include "fork/sections.h"
#include "fork/study.h"

namespace zerotax::fork {

struct PagesOrder {
  RESULT("order", "Allocations of one size.");
  FIELD(std::uint64_t, pages, "Number of adjacent pages in one allocation.", least(1));
  FIELD(std::uint64_t, allocations, "Number of allocations of this size in all forks.");
  FIELD(std::uint64_t, zeroed, "Number of allocations of this size that the kernel clears.");
};

struct PagesTaken {
  RESULT("kernel pages",
         "Pages that the kernel takes for itself in a fork, by the tracepoint kmem:mm_page_alloc: page tables, kernel "
         "stacks and kernel objects.");
  FIELD(std::uint64_t, forks, "Number of forks that were watched.");
  FIELD(std::uint64_t, lost, "Number of allocations that the kernel did not report, because the buffer was full.");
  FIELD(double, pages, "Average number of pages per fork.");
  FIELD(double, zeroed_pages, "Average number of pages per fork that the kernel clears.");
  FIELD(double, contiguous, "Average number of allocations of more than one page per fork.");
  FIELD(Measured<std::int64_t>, parent_table_bytes,
        "Page tables of the forking process except the topmost, in bytes (VmPTE of /proc/PID/status).");
  FIELD(std::vector<PagesOrder>, orders, "All allocations by size, in ascending order.");
};

struct Spread {
  RESULT("spread", "Times of many forks.");
  FIELD(double, mean_ns, "Mean of the times, in ns.");
  FIELD(double, variance_ns2, "Variance of the times (divided by the number of forks minus 1), in ns squared.");
  FIELD(double, median_ns, "Median of the times, in ns.");
  FIELD(double, low_ns, "Lower end of the 95 % interval of the mean, in ns.", kAnySign);
  FIELD(double, high_ns, "Upper end of the 95 % interval of the mean, in ns.");
};

struct Phase : Spread {
  RESULT("phase", "One phase of a fork.");
  FIELD(std::string, name, "Name of the phase.");
  FIELD(std::string, begins, "Tracepoint at which the phase begins.");
  FIELD(std::string, ends, "Tracepoint at which the phase ends.");
  FIELD(std::string, does, "The kernel's work in the phase.");
  BASE_FIELDS(Spread);
  FIELD(double, share, "Share of the mean of the whole call.", most(1));
};

struct Phases {
  RESULT("phases");
  FIELD(std::uint64_t, forks, "Number of forks that were timed.", least(2));
  FIELD(std::uint64_t, incomplete, "Number of forks that were left out, because an event was missing.");
  FIELD(std::uint64_t, lost, "Number of events that the kernel dropped, because the buffer was full.");
  FIELD(Spread, whole, "Time of the whole call, including the time of the events.");
  FIELD(std::vector<Phase>, phases, "The phases, one after the other, without a gap.");
};

struct Part {
  RESULT("part", "Samples and time of one part of a fork.");
  FIELD(std::uint64_t, samples, "Number of samples in the part.");
  FIELD(double, ns, "Mean time in each fork, in nanoseconds: samples * period / forks.");
  FIELD(double, share, "Samples in the part, as a share of all samples.", most(1));
  FIELD(double, share_error, "Two standard deviations of the share.");
  FIELD(std::optional<double>, low_ns,
        "Lower end of the 95 % interval of ns (Clopper and Pearson). Absent from earlier files.");
  FIELD(std::optional<double>, high_ns, "Upper end of the 95 % interval of ns. Absent from earlier files.");
  FIELD(std::optional<std::string>, text,
        "The time as text for a table; an upper bound if there are fewer than 10 samples. Absent from earlier files.");
};

struct SectionTime : Part {
  RESULT("section", "One section of a fork.");
  FIELD(std::string, name, "Name of the section.");
  FIELD(std::string, casper, "The corresponding section in the paper; '-' if there is no such section.");
  FIELD(bool, of_memory, "Whether the section belongs to the address space.");
  BASE_FIELDS(Part);
};

struct Observer {
  RESULT("observer");
  FIELD(double, unsampled_mean_ns,
        "Mean time of an equal number of interleaved forks that were not sampled, in nanoseconds.");
  FIELD(double, unsampled_median_ns, "Median time of the unsampled forks, in nanoseconds.");
  FIELD(double, median_ratio, "Median time of the sampled forks divided by the median time of the unsampled forks.");
};

struct Samples {
  RESULT("samples", "Samples for one process and one kind of clone.");
  FIELD(bool, shares_memory, "Whether the child shares the parent's memory (CLONE_VM).");
  FIELD(std::uint64_t, forks, "Number of forks that were sampled.");
  FIELD(std::uint64_t, samples, "Number of samples in kernel_clone.");
  FIELD(std::uint64_t, lost, "Number of samples that were lost.");
  FIELD(std::uint64_t, period_ns, "CPU time between two samples, in nanoseconds.");
  FIELD(double, mean_ns, "Mean time of the system call by the clock during sampling, in nanoseconds.");
  FIELD(double, median_ns, "Median time of the system call by the clock during sampling, in nanoseconds.");
  FIELD(double, entry_ns,
        "Median time of a clone that the kernel refuses at once, in nanoseconds: the cost of entering and leaving the "
        "kernel.");
  FIELD(double, sections_ns, "Sum of the sections per fork, in nanoseconds.");
  FIELD(double, sum_over_mean, "Ratio of the sampled to the measured time: (sections_ns + entry_ns) / mean_ns.");
  FIELD(Observer, observer, "The effect of sampling on the time of fork.");
  FIELD(std::vector<SectionTime>, sections, "The sections of fork, in the order of the table.");
  FIELD(std::optional<Part>, clearing,
        "The part of the samples in which the kernel was clearing a page, in any section. Absent from earlier files.");
};

struct CloneFlags {
  RESULT("clone flags", "Time of clone(2) with one set of flags.");
  FIELD(std::string, flags, "Names of the clone flags; 'fork' if no flags are set.");
  FIELD(double, ns, "Median of the rounds' medians of the system call, in nanoseconds.");
  FIELD(double, share_saved, "Share of fork's time that the flags save, 1 - ns / ns of fork.", kAnySign);
};

struct MemoryShare {
  RESULT("memory share");
  FIELD(double, sampled, "Samples in the sections of the address space, divided by all samples.");
  FIELD(double, ablated, "The time that CLONE_VM saves, as a share of the time of fork.", kAnySign);
  FIELD(double, apart, "Difference between the two shares: ablated - sampled.", kAnySign);
};

struct Process {
  RESULT("process", "Measurements of one process.");
  FIELD(std::string, name, "Name of the process: 'smallest', or the amount of memory that the process has populated.");
  FIELD(std::optional<unsigned>, visits,
        "Number of times that the process was measured. The measurement was repeated if its times contradicted each "
        "other, and the measurement whose times agree best was kept.",
        least(1));
  FIELD(std::optional<std::vector<ForkEstimate>>, estimates,
        "The time of a plain fork, as different parts of the run measured it.");
  FIELD(ForkTargetFacts, facts, "Pages and other resources of the process.");
  FIELD(Measured<PagesTaken>, kernel_pages,
        "Pages that the kernel takes for itself in each fork of the process. Absent from earlier files.", kLater);
  FIELD(Measured<Phases>, phases, "The parts of a fork between tracepoints of the kernel, over many forks.", kLater);
  FIELD(Measured<std::vector<CloneFlags>>, ablation,
        "Times of clone(2) with flags that skip parts of a fork, measured in alternation with a fork.");
  FIELD(Measured<std::vector<Samples>>, samples,
        "Samples in the kernel function kernel_clone: first for forks, then for clones that share memory (CLONE_VM).",
        least_items(1));
  FIELD(Measured<MemoryShare>, memory_share, "Share of fork's time that the address space takes, by two methods.");
  FIELD(OrNull<std::string>, contradiction,
        "A sentence about the estimates if they contradict each other; null if they agree.", kLater);

  /// The samples of plain forks; null if there are none.
  [[nodiscard]] const Samples* plain_samples() const {
    return samples && !samples->empty() ? &samples->front() : nullptr;
  }
};

struct Ways {
  RESULT("ways");
  FIELD(std::uint64_t, populated_bytes, "Memory that the process has populated, in bytes.");
  FIELD(std::vector<ForkWay>, ways, "One element for each way to create a child.");
};

struct Term {
  RESULT("term", "One term of the model.");
  FIELD(ForkTerm, key, "Name of the term.");
  FIELD(std::string, name, "The term in words.");
  FIELD(Measured<double>, ns, "Nanoseconds for each unit of the resource; for the term 'fixed', nanoseconds per fork.",
        kAnySign);
  FIELD(Measured<double>, low_ns, "Lower end of the 95 % interval of ns (bootstrap over rounds).", kAnySign);
  FIELD(Measured<double>, high_ns, "Upper end of the 95 % interval of ns (bootstrap over rounds).", kAnySign);
};

struct Prediction {
  RESULT("prediction", "A process of the sweep, and the model's prediction for this process.");
  FIELD(std::string, sweep, "The quantity that was varied in the sweep, or 'held back'.");
  FIELD(std::uint64_t, populated_bytes, "Memory that the process was asked to populate, in bytes.");
  FIELD(std::string, kind, "Kind of the populated memory.", one_of("private|huge|shared|dontfork"));
  FIELD(ForkTargetFacts, facts, "Pages and other resources of the process.");
  FIELD(std::vector<double>, rounds_ns, "Median time of fork in each round, in nanoseconds.");
  FIELD(Measured<PagesTaken>, kernel_pages,
        "Pages that the kernel takes for itself in each fork of the process. Absent from earlier files.", kLater);
  FIELD(double, measured_ns, "Median of the rounds' medians, in nanoseconds.");
  FIELD(double, predicted_ns, "Time predicted by the model, in nanoseconds.", kAnySign);
  FIELD(double, error, "Relative error, predicted_ns / measured_ns - 1.", kAnySign);
  FIELD(
      std::optional<bool>, plain,
      "Whether the process has few resources besides its populated pages, so that the time of its fork shows the cost "
      "of these pages.");
};

struct Line {
  RESULT("line", "The model's time of a fork by populated bytes, for one kind of pages.");
  FIELD(std::string, kind, "Kind of the pages. private pages have page_bytes of the environment, huge pages 2 MiB.",
        one_of("private|huge"));
  FIELD(double, empty_ns, "Time of a fork without pages of this kind, in nanoseconds.");
  FIELD(double, ns_per_byte, "Time that each populated byte adds to a fork, in nanoseconds.", kAnySign);
  bool operator==(const Line&) const = default;
};

struct Model {
  RESULT("model");
  FIELD(std::vector<Term>, terms, "The terms of the model's sum.");
  FIELD(double, r_squared,
        "R²: 1 minus the sum of squares of the relative errors divided by that of the best constant.", kAnySign);
  FIELD(double, worst_fit_error, "Largest relative error among the processes to which the model was fitted.");
  FIELD(double, worst_held_back_error, "Largest relative error among the processes that were held back.");
  FIELD(std::vector<Prediction>, fit, "The processes to which the model was fitted.");
  FIELD(std::vector<Prediction>, held_back, "The processes that were held back from the fit.");
  FIELD(
      std::optional<std::vector<Line>>, lines,
      "The time by populated bytes of a process without other resources, for each kind of pages whose cost is known.");
};

struct SharedTables {
  RESULT("shared tables", "Time of fork with and without shared page tables, for one size.");
  FIELD(std::uint64_t, populated_bytes, "Populated memory, in bytes.");
  FIELD(double, fork_ns, "Time of fork today, predicted by the model, in nanoseconds.");
  FIELD(double, shared_ns,
        "Time with shared page tables, in nanoseconds. For each 2 MiB, the time includes the cost of "
        "a huge page's entry.");
  FIELD(double, saved, "Share of fork's time saved, 1 - shared_ns / fork_ns.", kAnySign);
  FIELD(double, first_write_ns,
        "Cost of the first write to each 2 MiB, in nanoseconds. The write copies the entries of 512 pages.");
};

/// The document has no version and command, because the earliest documents had none.
struct Fork : DocumentHead {
  RESULT("zerotax fork",
         "The document that zerotax fork --json writes: the cost of fork on this machine. Times are in nanoseconds; a "
         "metric that could not be measured is {\"na\": \"why\"}, never 0.");
  SCHEMA_FIELD("zerotax.fork/1");
  STARTED_FIELD();
  ENVIRONMENT_FIELD();
  FIELD(bool, complete, "Whether everything was measured; false after an interrupt.");
  FIELD(std::optional<bool>, full,
        "Whether every process of the sweep was planned (--thorough). If false, only the processes that the answer "
        "needs were planned. Absent from earlier files, which planned every process.");
  FIELD(unsigned, rounds, "Number of planned measurements of each process of the sweep.", least(1));
  FIELD(std::uint64_t, most_bytes, "Largest amount of populated memory requested, in bytes.");
  FIELD(OrNull<std::string>, left_out,
        "The reason why larger processes were left out; null if no process was left out.");
  FIELD(std::vector<CasperRow>, casper,
        "Times of fork for the smallest process on an AT&T 3B2/310, from Table I of the 1989 paper.");
  FIELD(std::vector<Process>, processes, "The smallest process, and a process with a large amount of memory.");
  FIELD(Ways, ways, "Other ways to create a child, and memory that fork treats differently.");
  FIELD(Measured<Model>, model,
        "The time of fork as a sum of costs of the process's resources, fitted by least squares of relative errors.");
  FIELD(Measured<std::vector<SharedTables>>, shared_page_tables,
        "Time of fork if page tables were shared until a write, predicted by the model.");
  FIELD(Measured<std::string>, sentence, "The cost of fork, by the model, in one sentence; n/a without a model.",
        kLater);
  FIELD(std::optional<std::vector<std::string>>, notes, "Notes needed to read the times, a sentence each.");
};

/// Returns the whole result except the verdict.
Fork fork_result(const ForkData& data, Json environment, const std::string& started);

/// Adds or replaces the verdict: `sentence`, `notes`, `plain` of each process of the sweep, `lines` of the model, and
/// the intervals of sections. Needs only fields that every version has written.
void add_verdict(Fork& fork);

/// The verdict in one sentence, or the reason why there is none.
std::string fork_headline(const Fork& fork);

/// The default output, which fits one screen.
Answer fork_answer(const Fork& fork);

/// The headline, Table I of this machine beside the paper's, the model, the ways to start a program, and the time that
/// shared page tables would save. Lines have at most 80 columns.
std::string fork_text(const Fork& fork);

/// Returns the document "zerotax.fork/1".
Json fork_json(const Fork& fork);

/// Reads a document of "zerotax.fork/1", which this version or an earlier one wrote. The document must already be
/// checked against its schema. `where` names the document. Throws UsageError if a section has more samples than its
/// process, or if processes have different sections.
Fork read_fork(const Json& json, const std::string& where);

}  // namespace zerotax::fork

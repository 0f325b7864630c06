#include "advise/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/names.h"
#include "base/size.h"
#include "os/clock.h"
#include "record/arena.h"
#include "record/run.h"
#include "record/tax.h"
#include "record/where.h"

namespace zerotax::advise {
namespace {

double calls_of(const record::RecordedProcess& process) {
  const record::Metrics& figures = process.figures;
  double calls = 0;
  for (const record::Count& count : {figures.malloc_calls, figures.calloc_calls, figures.realloc_calls}) {
    calls += static_cast<double>(count.value_or(0));
  }
  return calls;
}

/// Returns the innermost frame that has a line number, else the innermost function except memset, else an empty
/// string.
std::string place_of(const record::RecordedSite& site) {
  std::string first;
  for (const NamedFrame& frame : site.frames) {
    const std::string function = frame.function.value_or("");
    if (frame.file && frame.line) return fmt::format("{}:{} ({})", *frame.file, *frame.line, function);
    if (first.empty() && !function.empty() && function != "memset" && frame.module) {
      first = fmt::format("{} in {}", function, file_name(*frame.module));
    }
  }
  return first;
}

/// Returns the place of the site with the most `bytes`. The place is empty if `bytes` is 0 for all sites.
std::string place_with_most(const std::vector<record::RecordedSite>& sites,
                            std::uint64_t (*bytes)(const record::RecordedSite& site)) {
  const record::RecordedSite* worst = nullptr;
  for (const record::RecordedSite& site : sites) {
    if (bytes(site) > (worst == nullptr ? 0 : bytes(*worst))) worst = &site;
  }
  return worst == nullptr ? "" : place_of(*worst);
}

/// Whether so much CPU time was not recorded that the shares of causes mean nothing.
bool is_mostly_unrecorded(const record::Tax& tax) {
  return static_cast<double>(tax.not_recorded.cpu_ns.value_or(0)) > kNoticed * static_cast<double>(tax.cpu_ns);
}

/// Returns the files that may contain a built-in allocator. Libraries that are allocators are omitted, because their
/// settings are known remedies.
std::vector<std::string> files_of(const record::Record& record) {
  std::set<std::string> files;
  for (const record::RecordedProcess& process : record.processes) files.insert(process.executable);
  for (const record::RecordedSite& site : record.sites) {
    for (const NamedFrame& frame : site.frames) {
      if (frame.module && allocator_name(*frame.module).empty()) files.insert(*frame.module);
    }
  }
  return {files.begin(), files.end()};
}

/// Returns the kernel-zeroed bytes that a process kept until its end. If there are several processes, returns their
/// largest value.
record::Count most_kept(const std::vector<record::RecordedProcess>& processes) {
  std::uint64_t most = 0;
  for (const record::RecordedProcess& process : processes) {
    const record::Count& zeroed = process.kernel.zeroed_bytes;
    const record::Count& returned = process.kernel.returned_bytes;
    if (!zeroed || !returned) return zeroed ? returned : zeroed;
    most = std::max(most, *zeroed - std::min(*zeroed, *returned));
  }
  return most;
}

Recording read(const record::Record& record) {
  if (record.processes.empty()) return NotAvailable{"the recorder saw no process of the program"};
  Recorded recorded;
  double most = -1;
  for (const record::RecordedProcess& process : record.processes) {
    const double calls = calls_of(process);
    // The program's allocator is the allocator of the process with the most calls.
    if (calls > most) recorded.allocator_file = process.allocator;
    most = std::max(most, calls);
    recorded.calls += calls;
    std::size_t threads = 0;
    for (const record::RecordedThread& thread : process.threads) threads += thread.threads;
    // A process without a list of threads may have several threads.
    recorded.threads = recorded.threads || process.threads.empty() || threads > 1;
  }
  recorded.files = files_of(record);
  recorded.tax = record.tax;
  recorded.share_of_cpu = record.tax.share_of_cpu;
  for (const record::TaxRow& row : record.tax.rows) {
    recorded.causes.push_back({row.cause, row.cpu_ns, row.share_of_cpu});
  }
  const record::Count& huge = record.totals.kernel.huge_bytes;
  recorded.huge_pages = !huge || *huge != 0;
  recorded.kernel_zeroed_bytes = record.totals.kernel.zeroed_bytes;
  recorded.zeroed_bytes = record.totals.zeroed_bytes;
  recorded.by_hand_zeroed_bytes = record.totals.by_hand.zeroed_bytes;
  recorded.refilled_bytes = record.totals.kernel.refilled_bytes;
  recorded.kept_bytes = most_kept(record.processes);
  recorded.by_hand_at = place_with_most(record.sites, [](const record::RecordedSite& site) {
    return site.kind == record::SiteKind::kByHand ? site.zeroed_bytes : 0;
  });
  recorded.large_blocks_at =
      place_with_most(record.sites, [](const record::RecordedSite& site) { return site.live_bytes; });
  if (record.forks) {
    for (const record::ForkSiteRow& site : record.forks->sites) {
      if (site.held_bytes.value_or(0) >= kMiB) recorded.fork_ns += site.call_ns.value_or(0);
    }
  }
  recorded.site = record::site_sentence(record, record::costly_rows(record.tax));
  return recorded;
}

}  // namespace

std::optional<double> Recorded::share(Cause cause) const {
  if (is_mostly_unrecorded(tax)) return std::nullopt;
  const auto row =
      std::find_if(tax.rows.begin(), tax.rows.end(), [&](const record::TaxRow& each) { return each.cause == cause; });
  if (row == tax.rows.end()) return 0;
  if (row->share_of_cpu) return *row->share_of_cpu;
  // If small stores were not timed, the time of the other stores is a lower bound.
  if (row->at_least_cpu_ns == 0 || tax.cpu_ns == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(row->at_least_cpu_ns) / static_cast<double>(tax.cpu_ns));
}

std::optional<double> Recorded::zeroing() const {
  if (!share_of_cpu) return std::nullopt;
  for (const Cause cause : {Cause::kFresh, Cause::kRefilled, Cause::kReturning}) {
    if (!share(cause)) return std::nullopt;
  }
  return *share_of_cpu;
}

bool Recorded::forks_matter() const {
  return static_cast<double>(fork_ns) >= kNoticed * static_cast<double>(tax.cpu_ns);
}

std::optional<Recording> record_target(TargetRunner& runner, const TargetRunner::Variables& variables,
                                       const TargetRunner::Words& launcher) {
  record::RecordTarget target = record::resolve_record_target(runner.target().words, "", {});
  record::RecordArena arena;
  arena.count_live_heap();
  const std::string started = utc_now();
  TargetRunner::Variables all = variables;
  for (const auto& [key, value] : record::recorded_command(target, arena).environment) {
    // The recorder comes first in LD_PRELOAD, so that it passes calls on to the allocator.
    const auto preloaded = variables.find(key);
    all[key] = key == "LD_PRELOAD" && preloaded != variables.end() ? target.library + ":" + preloaded->second : value;
  }
  // The unchanged program runs without a memory limit, because a limit would also count the recorder's memory.
  const MeteredRun run = runner.run_once(all, variables.empty() ? 0 : runner.memory_limit(), launcher);
  if (run.end == MeteredRun::End::kStopped) return std::nullopt;
  std::string why;
  if (run.end == MeteredRun::End::kTimeout) {
    why = "the program did not end in time under the recorder";
  } else if (run.end == MeteredRun::End::kMemory) {
    why = "the program took too much memory under the recorder";
  } else if (run.end == MeteredRun::End::kNotStarted) {
    why = "the program could not be started under the recorder: " + run.why_not_started;
  } else if (!runner.succeeded(run)) {
    why = "the program failed under the recorder: " + end_text(run.exited, run.code);
  } else if (!runner.same_output()) {
    why = "the program's output was different under the recorder";
  } else {
    return read(record_result(target, record::foreground_result(run), arena, started));
  }
  return Recording(NotAvailable{why});
}

}  // namespace zerotax::advise

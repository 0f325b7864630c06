#include "record/forks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/lines.h"
#include "base/names.h"
#include "base/table.h"
#include "base/units.h"
#include "observe/fork_tally.h"
#include "record/arena.h"
#include "record/kernel_part.h"
#include "record/processes.h"
#include "record/sites.h"
#include "record/where.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kShownSites = 8;

bool copies(ForkKind kind) { return kind == ForkKind::kFork; }

/// The sums of a call stack over the processes that made its calls.
struct ForkSum {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::uint64_t timed = 0;
  std::uint64_t ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t held_bytes = 0;
  std::uint64_t execs = 0;
  std::uint64_t exec_ns = 0;
  std::uint64_t allocated = 0;
  std::uint64_t changed_user = 0;
  std::uint64_t changed_session = 0;
  std::uint64_t closed_range = 0;

  void add(const ForkSite& site) {
    calls += site.calls;
    failed += site.failed;
    timed += site.timed;
    ns += site.ns;
    longest_ns = std::max<std::uint64_t>(longest_ns, site.longest_ns);
    held_bytes += site.held_bytes;
    execs += site.execs;
    exec_ns += site.exec_ns;
    allocated += site.allocated;
    changed_user += site.new_user;
    changed_session += site.new_session;
    closed_range += site.closed;
  }
};

ForkNeed need_of(ForkKind kind, const ForkSum& sum) {
  if (!copies(kind)) return ForkNeed::kShares;
  if (sum.execs == 0) return ForkNeed::kContinues;
  if (sum.changed_user != 0) return ForkNeed::kUser;
  if (sum.allocated != 0) return ForkNeed::kAllocated;
  return ForkNeed::kNothing;
}

ForkSiteRow row_of(ForkKind kind, const ForkSum& sum, std::vector<NamedFrame> frames) {
  constexpr const char* kUntimed = "no call was timed";
  constexpr const char* kNoExec = "no child executed a program";
  ForkSiteRow row;
  row.kind = kind;
  row.calls = sum.calls;
  row.failed = std::min(sum.failed, sum.calls);
  row.call_ns = known_if(sum.timed != 0, sum.ns, kUntimed);
  row.longest_call_ns = known_if(sum.timed != 0, sum.longest_ns, kUntimed);
  row.held_bytes = known_if(copies(kind) && sum.calls != 0, sum.held_bytes / std::max<std::uint64_t>(1, sum.calls),
                            "the call copies no page tables");
  row.execs = sum.execs;
  row.exec_after_ns = known_if(sum.execs != 0, sum.exec_ns / std::max<std::uint64_t>(1, sum.execs), kNoExec);
  if (kind == ForkKind::kSpawn) {
    // posix_spawn succeeds only if the child executed the program.
    row.execs = row.calls - row.failed;
    row.exec_after_ns = known_if(sum.timed != 0, sum.ns / std::max<std::uint64_t>(1, sum.timed), kUntimed);
  } else if (kind == ForkKind::kSharer) {
    row.execs = row.exec_after_ns = NotAvailable{"the child runs beside its parent, and its exec is not attributed"};
  }
  row.allocated = sum.allocated;
  row.changed_user = sum.changed_user;
  row.changed_session = sum.changed_session;
  row.closed_range = sum.closed_range;
  row.need = need_of(kind, sum);
  row.frames = std::move(frames);
  return row;
}

void put_counts(Forks& forks, const Measured<ForkCounts>& counts) {
  if (!counts) {
    forks.processes = NotAvailable{counts.why()};
    forks.by_kernel = NotAvailable{counts.why()};
    return;
  }
  const KernelForks& kinds = counts->kinds;
  forks.processes = counts->processes;
  forks.by_kernel =
      known_if(kinds.fork + kinds.vfork + kinds.clone_vm == counts->processes, kinds,
               "the flags of clone(2) are unknown for some processes; the kernel reports the flags to root alone");
}

/// Returns the innermost function of a script, or else the innermost function outside the C library.
std::string caller_words(const std::vector<NamedFrame>& frames) {
  const auto is_libc = [](const NamedFrame& frame) {
    return frame.module &&
           (file_name(*frame.module).starts_with("libc.so") || file_name(*frame.module).starts_with("libpthread"));
  };
  auto at = std::find_if(frames.begin(), frames.end(), [](const NamedFrame& frame) { return frame.is_script(); });
  if (at == frames.end()) at = std::find_if_not(frames.begin(), frames.end(), is_libc);
  return at == frames.end() ? "(unknown)" : place_words({at, frames.end()});
}

bool is_python_subprocess(const ForkSiteRow& row) {
  return std::any_of(row.frames.begin(), row.frames.end(), [](const NamedFrame& frame) {
    return frame.function.value_or("").ends_with("_execute_child") ||
           (frame.module && file_name(*frame.module).starts_with("_posixsubprocess"));
  });
}

/// Returns advice to use vfork or posix_spawn, and names the features of posix_spawn that replace the child's calls.
std::string cheaper_words(const ForkSiteRow& row) {
  std::string text =
      "The child neither allocates memory nor changes its user before it executes a program: vfork or posix_spawn may "
      "suffice, and would copy no page tables.";
  if (row.closed_range != 0) {
    text += " posix_spawn_file_actions_addclosefrom_np() closes the descriptors (glibc 2.34).";
  }
  if (row.changed_session != 0) {
    text += " POSIX_SPAWN_SETSID begins a session (glibc 2.26), POSIX_SPAWN_SETPGROUP a process group.";
  }
  return text;
}

/// Returns a sentence with the reason why the call needs fork, or with a cheaper call.
std::string need_words(const ForkSiteRow& row) {
  const bool is_python = is_python_subprocess(row);
  switch (row.need) {
    case ForkNeed::kShares:
      return "";
    case ForkNeed::kContinues:
      return "The children execute no program, so they need a fork: zerotax cow shows what is copied after it.";
    case ForkNeed::kUser:
      return is_python
                 ? "The options user=, group= or extra_groups= of subprocess prevent vfork."
                 : "The child changes its user or groups before it executes a program, which posix_spawn cannot do.";
    case ForkNeed::kAllocated:
      return is_python
                 ? "The option preexec_fn= of subprocess prevents vfork."
                 : "The child allocates memory before it executes a program, so it runs more code than a child of "
                   "vfork may.";
    case ForkNeed::kNothing:
      return is_python
                 ? "Python 3.10 and later, except 3.12.0, use vfork here, unless user=, group= or extra_groups= is "
                   "given, or subprocess._USE_VFORK is False."
                 : cheaper_words(row);
  }
  return "";
}

}  // namespace

void ForkCounts::note(const TaskEvent& event) {
  if (event.kind == TaskEvent::Kind::kFork) {
    ++processes;
    ++unknown[event.parent];
  }
  if (event.kind != TaskEvent::Kind::kFlags) return;
  const auto waiting = unknown.find(event.parent);
  if (waiting == unknown.end()) return;
  if (--waiting->second == 0) unknown.erase(waiting);
  switch (fork_way(event.clone_flags)) {
    case ForkWay::kFork:
      ++kinds.fork;
      break;
    case ForkWay::kVfork:
      ++kinds.vfork;
      break;
    case ForkWay::kCloneVm:
      ++kinds.clone_vm;
      break;
  }
}

std::optional<Forks> forks_outside(const Measured<ForkCounts>& counts) {
  Forks forks;
  put_counts(forks, counts);
  return forks.processes == std::uint64_t{0} ? std::nullopt : std::optional(forks);
}

std::optional<Forks> forks_of(const RecordArena& arena, const SeenRun& seen, const Measured<ForkCounts>& counts,
                              RecordedScripts& scripts) {
  Forks forks;
  put_counts(forks, counts);
  std::map<std::pair<std::int32_t, std::int64_t>, const ProcessSlot*> owners;
  for (const ProcessSlot* slot : seen.processes()) owners[{slot->pid, slot->started_ns}] = slot;
  Symbols symbols;
  std::map<std::pair<ForkKind, std::vector<std::string>>, std::pair<ForkSum, std::vector<NamedFrame>>> sums;
  for (const ForkSite* site : arena.forks()) {
    const auto owner = owners.find({site->pid, site->started_ns});
    std::vector<NamedFrame> frames;
    if (owner != owners.end()) frames = named_frames(*owner->second, &site->frames[0], site->depth, scripts, symbols);
    std::vector<std::string> labels;
    // An interpreter reaches the same line of a script through different functions, and parts of them without a name.
    const auto is_script = [](const NamedFrame& frame) { return frame.is_script(); };
    const auto script = std::find_if(frames.begin(), frames.end(), is_script);
    for (auto frame = script == frames.end() ? frames.begin() : script; frame != frames.end(); ++frame) {
      if (frame->function) labels.push_back(frame_label(*frame, false));
    }
    auto& [sum, named] = sums[{site->kind, labels}];
    sum.add(*site);
    named = std::move(frames);
  }
  for (auto& [key, value] : sums) {
    forks.sites.push_back(row_of(key.first, value.first, std::move(value.second)));
    forks.calls += forks.sites.back().calls - forks.sites.back().failed;
  }
  forks.calls_without_site = arena.forks_lost();
  forks.calls += forks.calls_without_site;
  std::stable_sort(forks.sites.begin(), forks.sites.end(), [](const ForkSiteRow& a, const ForkSiteRow& b) {
    return a.call_ns.value_or(0) > b.call_ns.value_or(0);
  });
  if (forks.sites.empty() && forks.processes.value_or(0) == 0) return std::nullopt;
  return forks;
}

std::string fork_words(const Forks& forks, std::int64_t wall_ns) {
  if (forks.sites.empty() || wall_ns <= 0) return "";
  const ForkSiteRow& worst = forks.sites.front();
  const std::uint64_t started = worst.calls - worst.failed;
  const double ns = as_double(worst.call_ns.value_or(0));
  if (started == 0 || ns < 0.01 * static_cast<double>(wall_ns)) return "";
  std::string text = fmt::format("{} of {} in {} took {} ({} each).", format_counted(started, "call"),
                                 words_of(worst.kind)[static_cast<std::size_t>(worst.kind)], caller_words(worst.frames),
                                 format_ns(ns), format_ns(ns / as_double(started)));
  if (copies(worst.kind)) {
    text +=
        fmt::format(" Each call copied the page tables of {} of memory.", format_size(worst.held_bytes.value_or(0)));
  }
  const std::string need = need_words(worst);
  return need.empty() ? text : text + " " + need;
}

std::string forks_text(const Forks& forks) {
  Table table({{"started by", Unit::kText, 12},
               {"calls", Unit::kCount, 9},
               {"time", Unit::kNs, 10},
               {"each", Unit::kNs, 10},
               {"memory", Unit::kBytes, 10},
               {"execs", Unit::kCount, 9},
               {"after", Unit::kNs, 10}});
  for (std::size_t i = 0; i < std::min(kShownSites, forks.sites.size()); ++i) {
    const ForkSiteRow& row = forks.sites[i];
    const std::uint64_t started = row.calls - row.failed;
    const Measured<std::uint64_t> each =
        row.call_ns && started != 0 ? Measured(*row.call_ns / started) : NotAvailable{"not timed"};
    table.add({words_of(row.kind)[static_cast<std::size_t>(row.kind)], row.calls, row.call_ns, each, row.held_bytes,
               row.execs, row.exec_after_ns});
    table.note(wrap(one_line(caller_words(row.frames)), "    ", "      "));
    if (const std::string need = need_words(row); !need.empty()) table.note(wrap(need, "    ", "    "));
  }
  std::string text = "\n";
  if (!table.empty()) text += table.text();
  if (forks.sites.size() > kShownSites)
    text += fmt::format("and {}\n", format_counted(forks.sites.size() - kShownSites, "more call stack"));
  if (const std::uint64_t unseen = less(forks.processes.value_or(0), forks.calls); unseen != 0) {
    text += wrap(fmt::format("{} {} started{}.", format_counted(unseen, "process", "processes"),
                             unseen == 1 ? "was" : "were",
                             forks.sites.empty() ? "" : " without a call that zerotax's library saw"));
  }
  if (forks.by_kernel) {
    const KernelForks& kernel = *forks.by_kernel;
    text += wrap(fmt::format("The kernel counted {} started by fork, {} by vfork, and {} by clone with CLONE_VM.",
                             format_counted(kernel.fork, "process", "processes"), format_count(kernel.vfork),
                             format_count(kernel.clone_vm)));
  }
  return text;
}

}  // namespace zerotax::record

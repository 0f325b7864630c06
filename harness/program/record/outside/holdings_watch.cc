#include "record/outside/holdings_watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "observe/file_reader.h"
#include "os/address_space.h"
#include "os/clock.h"
#include "os/page.h"
#include "os/process_info.h"
#include "os/process_stat.h"
#include "record/kernel_part.h"

namespace zerotax::record {
namespace {

constexpr std::int64_t kShortestPauseNs = 500'000;
constexpr std::int64_t kLongestPauseNs = 10'000'000;
/// The pause between two samples of memory is 1/kPartBetween of the time since the start.
constexpr std::int64_t kPartBetween = 200;
/// Sampling takes at most 1/kShareOfCommand or 1/kShareOfRunning of a CPU. A command may end soon, so it is sampled
/// more often than running processes, which must not be disturbed. The limit concerns CPU time, because on a busy
/// machine a sample takes longer but costs no more CPU time.
constexpr std::int64_t kShareOfCommand = 20;
constexpr std::int64_t kShareOfRunning = 200;
constexpr std::int64_t kChildrenPauseNs = 10'000'000;
/// Bytes per CPU for the reports of forks. The samples take most of the 516 KiB per CPU that an ordinary user may lock.
constexpr std::size_t kTaskBytes = std::size_t{64} << 10;
constexpr std::size_t kMostGrowths = 100'000;
/// Maximum number of processes to sample. A build may have many more processes; only sums are known of the others.
constexpr std::size_t kMostWatched = 20'000;

}  // namespace

HoldingsWatch::HoldingsWatch(const std::vector<pid_t>& processes, Joined joined)
    : looking_share_(kShareOfRunning),
      joined_(std::move(joined)),
      began_ticks_(static_cast<std::uint64_t>(clock_ns(CLOCK_BOOTTIME) / tick_ns())),
      clock_(processes),
      began_ns_(monotonic_ns()) {
  for (const pid_t pid : processes) begin(pid, 0, true);
  thread_ = Worker([this] { work(); });
}

HoldingsWatch::HoldingsWatch()
    : looking_share_(kShareOfCommand),
      wait_for_child_(true),
      clock_({}),
      tasks_(std::in_place, kTaskBytes),
      began_ns_(monotonic_ns()) {
  thread_ = Worker([this] { work(); });
}

HoldingsWatch::~HoldingsWatch() {
  done_ = true;
  thread_.wait();
}

void HoldingsWatch::finish() {
  done_ = true;
  thread_.join();
  look();
}

void HoldingsWatch::work() {
  while (!done_) {
    const std::int64_t now = monotonic_ns();
    const std::int64_t used = thread_cpu_ns();
    look();
    const std::int64_t taken = thread_cpu_ns() - used;
    const std::int64_t pause = std::max(std::clamp((now - began_ns_) / kPartBetween, kShortestPauseNs, kLongestPauseNs),
                                        looking_share_ * taken);
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min<std::int64_t>(pause, 1'000'000'000)));
  }
}

/// `ran_before`: the process ran before the watch began, so the memory that it holds now is not growth.
void HoldingsWatch::begin(pid_t pid, pid_t parent, bool ran_before) {
  if (is_own_process(pid)) return;
  const auto facts = process_facts(pid);
  const auto parts = resident_parts(pid);
  if (!facts || !parts) return;
  // The process may have populated pages between the two readings. `parts` includes these pages, `facts` does not.
  const auto later = process_facts(pid);
  if (later && later->start_stack != facts->start_stack) return;  // an exec: `parts` may be of another program
  const std::uint64_t faults_after = later ? later->minor_faults : facts->minor_faults;
  const std::uint64_t added_meanwhile = less(faults_after, facts->minor_faults) * page_bytes();
  HeldProcess process;
  process.pid = pid;
  process.parent = parent != 0 ? parent : facts->parent;
  process.executable = process_program(pid);
  process.words = process_command(pid);
  process.first_ns = process.last_ns = monotonic_ns();
  const auto of_parent = processes_.find(parent);
  process.forked = !ran_before && of_parent != processes_.end() && of_parent->second.executable == process.executable;
  Watched watched;
  watched.others = parts->others;
  watched.resident_peak = parts->peak;
  const std::uint64_t faults = facts->minor_faults;
  process.held = process.peak = parts->anonymous;
  process.hugetlb = parts->hugetlb != 0;
  process.shared = parts->shared;
  if (ran_before) {
    watched.faults_before = faults;
    watched.user_before_ns = facts->user_ns;
    watched.system_before_ns = facts->system_ns;
    process.begin = watched.base_at_most = parts->anonymous;
    watched.base = less(parts->anonymous, added_meanwhile);
  } else if (process.forked) {
    // The process began with its parent's pages. The number of pages that the process has added is unknown.
    process.faults = faults;
    process.begin = watched.base = parts->anonymous;
    watched.base_at_most = watched_.at(parent).peak_at_most;
    process.grown_at_most = std::min(parts->anonymous, faults_after * page_bytes());
    watched.grown_at_most_before = process.grown_at_most;
    process.shares = share_memory(pid, parent);
    if (process.shares) process.grown_at_most = watched.grown_at_most_before = 0;
  } else {
    process.faults = faults;
    process.grown = process.grown_at_most = parts->anonymous;
    // Before the present program, the process may have held more memory, at most one page for each of its faults.
    process.earlier = less(faults_after * page_bytes(), parts->anonymous);
    watched.growths.push_back({0, static_cast<std::uint64_t>(process.first_ns), process.grown});
  }
  watched.peak_at_most = process.peak;
  watched.start_stack = facts->start_stack;
  watched.memory_ns = process.first_ns;
  process.looked_faults = process.faults;
  const std::lock_guard lock(mutex_);
  processes_[pid] = std::move(process);
  watched_[pid] = std::move(watched);
}

/// Handles an exec, which frees the old program's memory. `old_bytes` were populated since the last sample and are no
/// longer held, so the old program may have grown by that many bytes.
void HoldingsWatch::note_exec(HeldProcess& process, Watched& watched, std::uint64_t old_bytes) {
  watched.grown_before = process.grown;
  watched.grown_at_most_before = process.grown_at_most + old_bytes;
  watched.base = watched.base_at_most = watched.peak_at_most = watched.others = 0;
  process.peak = process.held = 0;
  process.executable = process_program(process.pid);
  process.words = process_command(process.pid);
  if (process.shares) process.begin = 0;
  process.forked = process.shares = false;
}

/// `faults_after`: the process's faults after `parts` were read. `process.faults` was read before.
void HoldingsWatch::note_memory(HeldProcess& process, Watched& watched, const ResidentParts& parts,
                                const ProcessFacts& facts, std::uint64_t faults_after) {
  const std::uint64_t faults = less(faults_after, process.looked_faults);
  process.looked_faults = process.faults;
  // Between two samples, a process held at most the earlier sample's bytes plus the bytes that its faults populated
  // since then. The kernel also reports the maximum resident memory, which is another upper bound.
  watched.huge = watched.huge || less(parts.anonymous, process.held) > faults * page_bytes();
  const std::uint64_t populated = faults * (watched.huge ? huge_page_bytes() : page_bytes());
  // An exec shows as another stack, as another program file, or as a maximum resident memory that fell to less than
  // half. During an exec, /proc shows no stack and perhaps no file, but already the new program's memory. The stack
  // that appears later is handled as a second exec, because there may have been one.
  const std::string program = process_program(process.pid);
  if (process.executable.empty()) process.executable = program;
  const bool is_new = facts.start_stack != watched.start_stack || parts.peak < watched.resident_peak / 2 ||
                      (!program.empty() && program != process.executable);
  if (is_new) {
    note_exec(process, watched, less(populated, parts.anonymous));
  } else if (process.words.empty()) {
    // During an exec, the process already has the new program, but no command line yet.
    process.words = process_command(process.pid);
  }
  watched.start_stack = facts.start_stack;
  watched.resident_peak = parts.peak;
  const std::uint64_t ever = std::max(parts.anonymous, less(parts.peak, std::min(parts.others, watched.others)));
  watched.peak_at_most = std::max({watched.peak_at_most, parts.anonymous, std::min(process.held + populated, ever)});
  const std::int64_t from_ns = std::exchange(watched.memory_ns, monotonic_ns());
  if (parts.anonymous > process.peak) {
    if (watched.growths.size() < kMostGrowths) {
      watched.growths.push_back({static_cast<std::uint64_t>(from_ns), static_cast<std::uint64_t>(watched.memory_ns),
                                 parts.anonymous - process.peak});
    }
    process.peak = parts.anonymous;
  }
  process.held = parts.anonymous;
  process.hugetlb = process.hugetlb || parts.hugetlb != 0;
  process.shared = std::max(process.shared, parts.shared);
  watched.others = parts.others;
  process.grown = watched.grown_before + less(process.peak, std::max(watched.base, watched.base_at_most));
  process.grown_at_most = watched.grown_at_most_before + less(watched.peak_at_most, watched.base);
  if (process.shares) {
    // The memory is shared, so its growth counts for the parent. The parent's samples may miss only a peak between two
    // samples.
    process.grown = 0;
    process.grown_at_most = less(watched.peak_at_most, process.peak);
  }
  note_trend(process, watched);
}

/// Measures the fraction of recently populated bytes that was growth. Recent means the last fifth to two fifths of the
/// faults.
void HoldingsWatch::note_trend(HeldProcess& process, Watched& watched) {
  auto& [older, newer] = watched.marks;
  const auto populated = as_double((process.faults - older.first) * page_bytes());
  if (populated > 0) process.growing = std::min(1.0, as_double(less(process.grown, older.second)) / populated);
  if (process.faults < newer.first + newer.first / 4 + 1) return;
  older = newer;
  newer = {process.faults, process.grown};
}

void HoldingsWatch::look_at(HeldProcess& process, Watched& watched, std::int64_t now) {
  const auto facts = process_facts(process.pid);
  if (!facts || facts->state == 'X') {
    process.ended = true;
    return;
  }
  process.faults = std::max(less(facts->minor_faults, watched.faults_before), process.faults);
  if (const auto parts = resident_parts(process.pid)) {
    // If an exec began or ended meanwhile, `parts` may be of either program. The next sample will notice the exec.
    const ProcessFacts later = process_facts(process.pid).value_or(*facts);
    if (later.start_stack == facts->start_stack)
      note_memory(process, watched, *parts, *facts, less(later.minor_faults, watched.faults_before));
  } else if (watched.growths.empty() || watched.growths.back().to_ns != UINT64_MAX) {
    // The process is exiting, and its memory is gone. Since the last sample, the process may have grown by any number
    // of bytes.
    watched.growths.push_back({static_cast<std::uint64_t>(watched.memory_ns), UINT64_MAX, UINT64_MAX});
  }
  process.user_ns = facts->user_ns - watched.user_before_ns;
  process.system_ns = facts->system_ns - watched.system_before_ns;
  process.last_ns = now;
  process.ended = facts->state == 'Z';
}

/// Finds processes that joined the scope, whichever process started them.
void HoldingsWatch::find_joined() {
  for (const pid_t pid : joined_()) {
    const auto facts = process_facts(pid);
    if (!facts || processes_.contains(pid)) continue;
    const bool ran_before = facts->start_ticks < began_ticks_;
    begin(pid, facts->parent, ran_before);
    if (processes_.contains(pid)) clock_.add(pid, ran_before);
  }
}

void HoldingsWatch::find_children() {
  if (wait_for_child_) {
    const std::string ours = process_program(::getpid());
    for (const pid_t child : process_children(::getpid())) {
      const std::string program = process_program(child);
      if (program.empty() || program == ours || is_own_process(child)) continue;
      begin(child, 0, false);
      wait_for_child_ = !processes_.contains(child);
      if (!wait_for_child_) clock_.add(child);
    }
    return;
  }
  if (monotonic_ns() < children_due_ns_ || processes_.size() >= kMostWatched) return;
  const std::int64_t used = thread_cpu_ns();
  if (joined_) {
    find_joined();
  } else {
    find_descendants();
  }
  children_due_ns_ = monotonic_ns() + std::max(kChildrenPauseNs, looking_share_ * (thread_cpu_ns() - used));
}

void HoldingsWatch::find_descendants() {
  std::vector<std::pair<pid_t, pid_t>> found;
  for (const auto& [pid, process] : processes_) {
    if (process.ended) continue;
    for (const pid_t child : process_children(pid)) found.emplace_back(child, pid);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [child, parent] = found[i];
    if (processes_.contains(child)) continue;
    begin(child, parent, false);
    if (!processes_.contains(child)) continue;
    clock_.add(child);
    for (const pid_t grandchild : process_children(child)) found.emplace_back(grandchild, child);
  }
}

Measured<ForkCounts> HoldingsWatch::forks() const {
  if (!tasks_) return NotAvailable{"running processes are watched only for a while"};
  if (!tasks_->why_not().empty()) return NotAvailable{tasks_->why_not()};
  return known_if(tasks_->lost() == 0, forks_, "some of the kernel's reports were lost");
}

void HoldingsWatch::look() {
  if (tasks_) {
    std::vector<TaskEvent> events;
    tasks_->read(events);
    for (const TaskEvent& event : events) forks_.note(event);
  }
  find_children();
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = monotonic_ns();
    for (auto& [pid, process] : processes_) {
      if (!process.ended) look_at(process, watched_.at(pid), now);
    }
    looked_ns_ = static_cast<std::uint64_t>(now);
  }
  clock_.look();
}

std::optional<std::vector<HoldingsWatch::Growth>> HoldingsWatch::growths(pid_t pid) const {
  const std::lock_guard lock(mutex_);
  const auto found = watched_.find(pid);
  return found != watched_.end() ? std::optional(found->second.growths) : std::nullopt;
}

}  // namespace zerotax::record

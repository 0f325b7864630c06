#include "record/outside/watch.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "observe/file_reader.h"
#include "os/clock.h"
#include "os/huge_pages.h"
#include "os/process_info.h"
#include "run/interrupt.h"
#include "run/process_wait.h"
#include "run/program_launch.h"

namespace zerotax::record {
namespace {

/// Samples per second of CPU time, and bytes of stack copied per sample. A sample costs the program some 5 µs, and
/// unwinding the stack costs zerotax some 100 µs. A command gets more samples, because it may end soon. A running
/// process gets fewer samples, because it must not be disturbed.
constexpr unsigned kHzOfCommand = 499;
constexpr unsigned kHzOfRunning = 99;
constexpr unsigned kHzOfLight = 49;
constexpr std::uint32_t kStackOfCommand = 16 << 10;
constexpr std::uint32_t kStackOfRunning = 8 << 10;

/// Number of faults before the exec. The child writes the number into memory that it shares with zerotax.
std::uint64_t* faults_before_exec = nullptr;

void note_faults() {
  restore_interrupts();
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) *faults_before_exec = static_cast<std::uint64_t>(usage.ru_minflt);
}

void share_faults() {
  if (faults_before_exec != nullptr) return;
  void* page = ::mmap(nullptr, sizeof *faults_before_exec, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) faults_before_exec = static_cast<std::uint64_t*>(page);
}

}  // namespace

OutsideWatch::OutsideWatch()
    : throttling_(::getpid()),
      huge_before_(huge_fault_bytes()),
      shared_before_(huge_shared_bytes()),
      places_(holdings_),
      returns_(places_) {
  start_sampling({}, kHzOfCommand, kStackOfCommand);
}

OutsideWatch::OutsideWatch(WatchScope& scope, bool sizes)
    : processes_(scope.joined()),
      perf_(scope.perf(processes_)),
      cgroup_folder_(perf_.cgroup >= 0 && !perf_.has_us ? scope.folder() : ""),
      huge_before_(huge_fault_bytes()),
      shared_before_(huge_shared_bytes()),
      holdings_(processes_, perf_.is_open() ? [&scope] { return scope.joined(); } : HoldingsWatch::Joined{}),
      places_(holdings_),
      returns_(places_),
      pages_(perf_) {
  if (!cgroup_folder_.empty()) time_before_ = cgroup_time(cgroup_folder_);
  if (processes_.size() == 1) throttling_.emplace(processes_.front());
  places_.begin(processes_);
  if (sizes) sizes_ = std::make_unique<StoreSizesWatch>(processes_);
  start_sampling(perf_, perf_.light ? kHzOfLight : kHzOfRunning, kStackOfRunning);
}

void OutsideWatch::start_sampling(const PerfScope& scope, unsigned hz, std::uint32_t stack_bytes) {
  ProfileOptions options;
  options.hz = hz;
  options.scope = scope;
  options.stack_bytes = stack_bytes;
  options.faults = FaultListener{
      [this](const PerfEvent& event) {
        places_.change(event);
        returns_.change(event);
      },
      [this](const PerfEvent& event, const Stack& stack, Unwinder& unwinder) { places_.fault(event, stack, unwinder); },
      [this](const PerfEvent& event, const Stack& stack, Unwinder& unwinder) { returns_.add(event, stack, unwinder); },
      [this](const PerfEvent& event, const Stack& stack, Unwinder& unwinder) {
        if (data_.cpu.add(event, stack)) ++stores_.at(event, stack, unwinder);
      }};
  try {
    recorder_ = std::make_unique<ProfileRecorder>(options);
    recorder_->wait_ready();
  } catch (const MachineError& refusal) {
    data_.denied = fmt::format("{}; {}", refusal.what(), refusal.remedy());
  }
}

OutsideData OutsideWatch::finish() {
  data_.counts = pages_.read();
  holdings_.finish();
  data_.counts_whole = pages_.whole();
  data_.counts_joined = pages_.counts_cpus();
  data_.pages_follow = pages_.pages_follow();
  data_.light = perf_.light;
  data_.tree_faults = holdings_.clock().minor_faults();
  data_.why_no_pages = pages_.why_no_pages();
  if (sizes_) data_.store_sizes = sizes_->finish();
  if (recorder_) data_.profile = recorder_->finish();
  if (data_.denied.empty()) data_.denied = data_.profile.denied;
  data_.places = places_.finish();
  data_.returns = returns_.finish();
  data_.return_samples = returns_.samples();
  add_stores();
  data_.faults = places_.all();
  data_.zero_fills = places_.zero_fills();
  data_.unsure = places_.unsure();
  data_.unread = places_.unread();
  data_.shared = places_.shared();
  data_.copied = places_.copied();
  data_.forked = places_.forked();
  data_.processes = holdings_.processes();
  data_.forks = holdings_.forks();
  data_.user_ns = static_cast<std::int64_t>(holdings_.clock().user_s() * 1e9);
  data_.system_ns = static_cast<std::int64_t>(holdings_.clock().system_s() * 1e9);
  add_cgroup_time();
  if (throttling_) data_.throttled_ns = throttling_->since();
  const auto huge = huge_fault_bytes();
  if (huge && huge_before_) data_.huge_bytes = less(*huge, *huge_before_);
  const auto shared = huge_shared_bytes();
  if (shared && shared_before_) data_.huge_shared_bytes = less(*shared, *shared_before_);
  return std::move(data_);
}

void OutsideWatch::add_stores() {
  Symbols symbols;
  for (const auto& [stack, place] : stores_.all()) {
    data_.stores.push_back({name_spots(place.spots, symbols), place.seen});
  }
  std::stable_sort(data_.stores.begin(), data_.stores.end(),
                   [](const StorePlace& a, const StorePlace& b) { return a.samples > b.samples; });
}

/// Replaces the processes' CPU time by that of the cgroup, which includes processes that were never sampled.
void OutsideWatch::add_cgroup_time() {
  const auto now = time_before_ ? cgroup_time(cgroup_folder_) : std::nullopt;
  if (!now) return;
  data_.user_ns = now->user_ns - time_before_->user_ns;
  data_.system_ns = now->system_ns - time_before_->system_ns;
}

OutsideData watch_command(const std::vector<std::string>& words, const std::string& program) {
  ForegroundCommand command = foreground_command(program, words, "", {});
  share_faults();
  if (faults_before_exec != nullptr) command.before_exec = note_faults;
  // The reader starts before the events are opened. A reader that starts later would inherit the events and count as a
  // process of the program.
  FileReader::shared().start();
  OutsideWatch watch;
  const ForegroundResult result = run_program(command, "record");
  OutsideData data = watch.finish();
  data.command = words;
  data.program = program;
  data.run = result;
  data.ended = true;
  data.began_ns = result.started_ns;
  data.wall_ns = result.wall_ns;
  data.user_ns = result.user_ns;
  data.system_ns = result.system_ns;
  if (faults_before_exec != nullptr) data.faults_before_exec = *faults_before_exec;
  return data;
}

OutsideData watch_scope(WatchScope scope, double seconds, bool sizes) {
  const bool is_one = scope.watched() == Watched::kProcess;
  std::vector<std::string> words;
  std::string program;
  if (is_one) {
    words = process_command(scope.pid());
    if (words.empty()) words.push_back(process_name(scope.pid()));
    program = process_program(scope.pid());
  }
  const std::int64_t start = monotonic_ns();
  FileReader::shared().start();
  OutsideWatch watch(scope, sizes);
  const bool ended =
      is_one ? wait_for_process("recording", scope.pid(), seconds, {}) : wait_for_seconds("recording", seconds);
  const std::int64_t wall_ns = monotonic_ns() - start;
  OutsideData data = watch.finish();
  data.command = std::move(words);
  data.program = program;
  data.watched = scope.watched();
  if (is_one) data.pid = scope.pid();
  data.cgroup = scope.path();
  data.others = scope.others();
  data.ended = ended;
  data.began_ns = start;
  data.wall_ns = wall_ns;
  return data;
}

}  // namespace zerotax::record

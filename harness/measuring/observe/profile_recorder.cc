#include "observe/profile_recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/printable.h"
#include "observe/file_reader.h"
#include "observe/foreign_program.h"
#include "observe/sample_registers.h"
#include "os/clock.h"
#include "os/perf_streams.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

/// Pauses between two readings of the events: short for a command, because its maps disappear when its processes end.
constexpr std::chrono::milliseconds kPauseOfCommand{10};
constexpr std::chrono::milliseconds kPauseOfRunning{25};
constexpr std::chrono::milliseconds kPauseOfLargeBuffers{50};
/// Sampling of threads takes at most 1/kLookingShare of the time.
constexpr int kLookingShare = 5;
/// Time of the first rounds, which is not limited, because these rounds open the program's files.
constexpr std::chrono::milliseconds kFirstLooks{500};
/// Pause between two readings of the threads' clocks. The readings take at most 1/kClockShare of the time.
constexpr std::chrono::steady_clock::duration kClockPause = std::chrono::milliseconds(40);
constexpr int kClockShare = 20;
/// Maximum number of events that wait to be unwound, some 260 MB. If more events wait, they are lost.
constexpr std::size_t kMostEvents = 16'000;
/// Prepares names before sampling begins: processes that this thread starts later may be sampled with the program.
const KernelSymbols& prepare_names() {
  FileReader::shared().start();
  static const KernelSymbols symbols;
  return symbols;
}

/// Returns the load address of the program whose code was mapped; 0 if the program's file does not state it.
std::uint64_t load_address(const PerfEvent& code) {
  const ForeignProgram program(code.path);
  const auto bias = load_bias_of(program.segments(), code.begin, code.file_offset);
  return bias ? first_address_of(program.segments(), *bias).value_or(0) : 0;
}

/// Creates the sampler. If running processes cannot be sampled, `denied` receives the reason.
PerfSampler sampler_of(const ProfileOptions& options, UserFaults faults, std::string& denied) {
  if (options.scope.processes.empty()) return {options.hz, options.stack_bytes, faults};
  try {
    return {options.hz, options.stack_bytes, faults, options.scope};
  } catch (const MachineError& refusal) {
    denied = fmt::format("{}; {}", refusal.what(), refusal.remedy());
    return {};
  }
}

/// Selects how faults are sampled. Without kernel names, a sample does not show whether the kernel handles a fault.
UserFaults fault_sampling(const ProfileOptions& options, bool each, bool kernel_names) {
  if (options.faults) return UserFaults::kByRate;
  if (each) return UserFaults::kNone;
  return kernel_names ? UserFaults::kWhereKernelIsHidden : UserFaults::kAlways;
}

}  // namespace

ProfileRecorder::ProfileRecorder(ProfileOptions options, Each each)
    : options_(std::move(options)),
      kernel_(prepare_names()),
      sampler_(sampler_of(options_, fault_sampling(options_, bool{each}, kernel_.known()), data_.denied)),
      wall_(options_.stack_bytes),
      each_(std::move(each)),
      reader_([this] { read_events(); }) {
  try {
    thread_ = Worker([this] { work(); });
  } catch (...) {
    done_ = true;
    reader_.wait();
    throw;
  }
}

ProfileRecorder::~ProfileRecorder() {
  done_ = true;
  thread_.wait();
  reader_.wait();
}

ProfileData ProfileRecorder::finish() {
  faults_counted_ = sampler_.fault_count();
  finished_ns_ = monotonic_ns();
  done_ = true;
  thread_.join();
  for (auto& [pid, process] : processes_) {
    if (process.started) process.unwinder->note_scripts(data_.scripts);
    const auto id = static_cast<pid_t>(pid);
    if (process.started && !options_.scope.is_open() && is_running(id)) data_.running.push_back(id);
  }
  data_.lost = sampler_.lost() + dropped_ + skipped_;
  data_.sees_kernel = sampler_.sees_kernel();
  data_.sees_faults = sampler_.sees_faults();
  data_.why_no_returns = sampler_.why_no_returns();
  data_.samples_cpus = sampler_.samples_cpus();
  data_.knows_kernel_names = kernel_.known();
  data_.refused = wall_.refused();
  data_.by_thread = options_.by_thread;
  return std::move(data_);
}

std::chrono::milliseconds ProfileRecorder::pause() const {
  if (options_.scope.processes.empty()) return kPauseOfCommand;
  return sampler_.samples_cpus() ? kPauseOfLargeBuffers : kPauseOfRunning;
}

void ProfileRecorder::read_events() {
  for (bool last = false; !last;) {
    last = done_;
    {
      const std::lock_guard lock(mutex_);
      const auto before = static_cast<std::ptrdiff_t>(incoming_.size());
      sampler_.read(incoming_);
      complete_ns_ = newest_ns_;
      for (auto event = incoming_.begin() + before; event != incoming_.end(); ++event) {
        newest_ns_ = std::max(newest_ns_, event->time_ns);
        find_files(*event);
      }
      if (incoming_.size() > kMostEvents) {
        const auto is_sample = [](const PerfEvent& event) { return event.kind == PerfEvent::Kind::kSample; };
        const auto end = std::remove_if(incoming_.begin() + before, incoming_.end(), is_sample);
        dropped_ += static_cast<std::uint64_t>(incoming_.end() - end);
        incoming_.erase(end, incoming_.end());
      }
    }
    if (!last) std::this_thread::sleep_for(pause());
  }
}

/// Finds a mapped file or a perf map, which are available only while the process lives.
void ProfileRecorder::find_files(PerfEvent& event) {
  if (event.kind == PerfEvent::Kind::kMap && event.name.starts_with('/')) {
    event.path =
        files_.find(static_cast<pid_t>(event.pid), {event.begin, event.end, event.name, event.inode, event.device});
  }
  if (event.kind != PerfEvent::Kind::kExec) return;
  maps_[{event.pid, event.time_ns}] = std::make_shared<PerfMap>(static_cast<pid_t>(event.pid));
}

void ProfileRecorder::take_events() {
  std::vector<PerfEvent> events;
  std::uint64_t complete_ns = 0;
  {
    const std::lock_guard lock(mutex_);
    events.swap(incoming_);
    complete_ns = complete_ns_;
  }
  pending_.insert(pending_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
  process(complete_ns);
}

void ProfileRecorder::work() {
  const auto tell_ready = [this] {
    ready_ = true;
    ready_.notify_all();
  };
  try {
    attach();
  } catch (...) {
    tell_ready();
    throw;
  }
  tell_ready();
  take_samples();
}

void ProfileRecorder::wait_ready() { ready_.wait(false); }

/// Reads the state of processes that already run. Later changes are reported by events.
void ProfileRecorder::attach() {
  for (const pid_t pid : options_.scope.processes) {
    Process& process = processes_[static_cast<std::uint32_t>(pid)];
    const std::string name = process_name(pid);
    process = {name.empty() ? kUnnamedProgram : name, std::make_shared<Unwinder>(static_cast<std::uint32_t>(pid)),
               kManyThreads, true};
    process.unwinder->scripts();
    map_process(pid, *process.unwinder);
    clock_.begin(pid);
    if (data_.load_address != 0) continue;
    const std::string program = process_program(pid);
    for (const ProcessMapping& mapping : process_mappings(pid)) {
      if (mapping.name != program) continue;
      data_.load_address = mapping.begin - mapping.file_offset;
      break;
    }
    // This first round opens the files of the program, which takes some time.
    const auto nothing = [](auto&&...) {};
    if (options_.wall) wall_.look(pid, *process.unwinder, {nothing, nothing});
  }
  if (options_.scope.processes.empty()) return;
  ready_ns_ = static_cast<std::uint64_t>(monotonic_ns());
  faults_before_ = sampler_.fault_count();
}

void ProfileRecorder::take_samples() {
  auto next_read = Clock::now();
  auto next_look = next_read;
  auto next_clocks = next_read;
  const auto begin = next_read;
  const auto period = std::chrono::nanoseconds(1'000'000'000 / options_.hz);
  Clock::duration looking{0};
  while (!done_) {
    auto now = Clock::now();
    if (now >= next_read) {
      take_events();
      next_read = now + pause();
    }
    now = Clock::now();
    if (!sampler_.sees_kernel() && now >= next_clocks) {
      read_clocks();
      next_clocks = now + std::max(kClockPause, kClockShare * (Clock::now() - now));
    }
    now = Clock::now();
    if (options_.wall && now >= next_look) {
      look_around();
      looking += Clock::now() - now;
      next_look = std::max(next_look + period, begin + kLookingShare * (looking - kFirstLooks));
    }
    std::this_thread::sleep_until(options_.wall ? std::min(next_read, next_look) : next_read);
  }
  if (!sampler_.sees_kernel()) read_clocks();
  reader_.join();
  take_events();
  process(UINT64_MAX);
  scale_faults();
  if (sampler_.sees_kernel()) {
    count_running();
  } else {
    account();
  }
}

void ProfileRecorder::process(std::uint64_t before_ns) {
  apply_in_order(pending_, before_ns, [&](const PerfEvent& event) { apply(event); });
}

void ProfileRecorder::apply_fork(const PerfEvent& event) {
  strangers_.erase(event.pid);
  if (sampler_.samples_cpus() && event.parent == static_cast<std::uint32_t>(::getpid())) {
    if (!options_.scope.processes.empty()) return;
    processes_[event.pid] = {"", std::make_shared<Unwinder>(event.pid), 1, false};
    return;
  }
  const Process* parent = known(event.parent);
  if (parent == nullptr) return;
  Process child = *parent;
  child.threads = 1;
  processes_[event.pid] = std::move(child);
}

void ProfileRecorder::apply_exec(const PerfEvent& event) {
  std::shared_ptr<PerfMap> scripts;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = maps_.extract({event.pid, event.time_ns})) scripts = std::move(found.mapped());
  }
  Process* process = known(event.pid);
  if (process == nullptr) return;
  *process = {event.name.empty() ? kUnnamedProgram : printable(event.name),
              std::make_shared<Unwinder>(event.pid, std::move(scripts)), 1, true};
  process->mapped = false;
  thread_names_.erase({event.pid, event.pid});
}

void ProfileRecorder::apply_exit(const PerfEvent& event, Process& process) {
  // A program always maps its file before it ends. If no mapping was reported, the kernel ended the process's perf
  // events, because an exec changed the process's rights.
  if (process.started && !process.mapped) {
    ++data_.rights_changed;
    return;
  }
  if (--process.threads > 0) return;
  if (process.started) process.unwinder->note_scripts(data_.scripts);
  processes_.erase(event.pid);
}

void ProfileRecorder::apply_map(const PerfEvent& event, Process& process) {
  if (!process.started) return;
  if (process.unwinder.use_count() > 1) process.unwinder = std::make_shared<Unwinder>(event.pid, *process.unwinder);
  // The first mapping is the program's own file.
  if (data_.load_address == 0 && !process.mapped) data_.load_address = load_address(event);
  process.mapped = true;
  process.unwinder->map({event.begin, event.end, event.file_offset, event.name, event.inode, event.path, event.device});
}

void ProfileRecorder::apply(const PerfEvent& event) {
  if (options_.faults) tell_change(event);
  if (event.kind == PerfEvent::Kind::kFork) return apply_fork(event);
  if (event.kind == PerfEvent::Kind::kExec) return apply_exec(event);
  if (event.kind == PerfEvent::Kind::kExit && !processes_.contains(event.pid)) return;
  Process* process = known(event.pid);
  if (process == nullptr) return;
  switch (event.kind) {
    case PerfEvent::Kind::kThread:
      ++process->threads;
      return;
    case PerfEvent::Kind::kName:
      if (options_.by_thread) thread_names_[{event.pid, event.tid}] = printable(event.name);
      return;
    case PerfEvent::Kind::kExit:
      return apply_exit(event, *process);
    case PerfEvent::Kind::kMap:
      return apply_map(event, *process);
    case PerfEvent::Kind::kSample:
      if (process->started && event.time_ns >= ready_ns_ && has_time()) apply_sample(event);
      return;
    case PerfEvent::Kind::kFault:
      if (process->started && event.time_ns >= ready_ns_ && has_time()) apply_fault(event);
      return;
    case PerfEvent::Kind::kReturn:
      if (process->started && event.time_ns >= ready_ns_ && has_time()) apply_return(event);
      return;
    case PerfEvent::Kind::kFork:
    case PerfEvent::Kind::kExec:
    case PerfEvent::Kind::kData:
      return;
  }
}

void ProfileRecorder::apply_sample(const PerfEvent& event) {
  const ThreadId thread{event.pid, event.tid};
  const auto running = options_.wall ? running_.find(thread) : running_.end();
  if (options_.wall && running == running_.end()) return;  // no round of sampling has found the thread
  const Process& process = processes_.at(event.pid);
  Stack stack{{process.name, ""}};
  for (Frame& frame : process.unwinder->frames(event)) stack.push_back(std::move(frame));
  for (std::size_t i = event.kernel.size(); i-- > 0;) stack.push_back(kernel_.frame(event.kernel[i]));
  if (each_) each_(event, stack);
  if (options_.faults) options_.faults->sample(event, stack, *process.unwinder);
  SampleKinds kinds;
  const Fill fill = process.unwinder->fill(event);
  kinds.zeros = fill == Fill::kZeros ? 1 : 0;
  kinds.other_bytes = fill == Fill::kOther ? 1 : 0;
  kinds.in_call = is_in_call(event, stack) ? 1 : 0;
  if (!options_.wall) return count(thread, stack, kinds, 1);
  if (!sampler_.sees_kernel()) {
    ++running->second.sampled[fill][stack];
    return;
  }
  count(thread, stack, kinds, running->second.looks);
  running->second = {0, std::move(stack), process.name, kinds, {}};
}

void ProfileRecorder::count(const ThreadId& thread, const Stack& stack, const SampleKinds& kinds,
                            std::uint64_t samples) {
  if (samples == 0) return;
  data_.stacks[stack] += samples;
  data_.samples += samples;
  if (kinds.zeros + kinds.other_bytes + kinds.waiting + kinds.in_call > 0) data_.kinds[stack].add(kinds, samples);
  if (!options_.by_thread) return;
  ThreadProfile& profile = data_.threads[thread];
  if (profile.name.empty()) profile.name = thread_name(thread);
  profile.samples += samples;
  profile.stacks[Stack(stack.begin() + 1, stack.end())] += samples;
}

std::string ProfileRecorder::thread_name(const ThreadId& thread) {
  const auto found = thread_names_.find(thread);
  if (found != thread_names_.end()) return found->second;
  std::string now = zerotax::thread_name(static_cast<pid_t>(thread.first), static_cast<pid_t>(thread.second));
  if (!now.empty()) return now;
  const auto process = processes_.find(thread.first);
  return process != processes_.end() ? process->second.name : "";
}

void ProfileRecorder::look_around() {
  ++data_.looks;
  for (auto& [pid, process] : processes_) {
    if (!process.started) continue;
    const std::uint32_t id = pid;
    const std::string& name = process.name;
    wall_.look(static_cast<pid_t>(pid), *process.unwinder,
               {[&](pid_t tid) {
                  Running& running = running_[{id, static_cast<std::uint32_t>(tid)}];
                  ++running.looks;
                  if (running.program.empty()) running.program = name;
                },
                [&](pid_t tid, const Stack& waiting) {
                  const ThreadId thread{id, static_cast<std::uint32_t>(tid)};
                  running_[thread];  // marks the thread as found
                  Stack stack{{name, ""}};
                  stack.insert(stack.end(), waiting.begin(), waiting.end());
                  count(thread, stack, {0, 0, 1}, 1);
                }});
  }
}

}  // namespace zerotax

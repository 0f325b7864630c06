#include "trace/control_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/lines.h"
#include "base/units.h"
#include "format/control_file.h"
#include "os/clock.h"
#include "os/print.h"
#include "os/process_info.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {
namespace {

using recorder::answers_of;
using recorder::ControlFile;
using recorder::ControlState;
using recorder::state_of;
using recorder::state_word;

constexpr std::int64_t kPatienceNs = 10'000'000'000;
constexpr std::int64_t kStoppedNs = 200'000'000;  ///< time after which a request to a stopped process, whose threads do
                                                  ///< not run, is withdrawn
constexpr std::int64_t kLookNs = 50'000'000;      ///< time between two checks that the process still exists
constexpr timespec kLook{0, kLookNs};

/// Returns a text that another process wrote. The text may lack its final 0.
template <std::size_t N>
std::string text_of(const char (&text)[N]) {
  return {text, ::strnlen(text, N)};
}

/// Opens a file only if it is a regular file: the recorded process chooses the path, so root could otherwise open a
/// device. Returns no descriptor, and sets errno, if the file cannot be opened.
UniqueFd open_if_regular(const std::string& path) {
  const UniqueFd found(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!found || ::fstat(found.get(), &status) != 0) return {};
  errno = S_ISLNK(status.st_mode) ? ELOOP : EINVAL;
  if (!S_ISREG(status.st_mode)) return {};
  return UniqueFd(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
}

constexpr const char* kGivePid = "give --pid the PID of a running program (see ps)";

/// Returns an environment variable as it was when the process started. Throws MachineError if this user cannot read the
/// environment.
std::optional<std::string> variable_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  const int failure = file ? 0 : errno;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (failure == EACCES || failure == EPERM || file.bad()) {
    const auto facts = process_facts(pid);
    const bool others = ::geteuid() != 0 && facts && facts->user != ::geteuid();
    const char* why = std::strerror(failure != 0 ? failure : EACCES);
    throw MachineError(others ? fmt::format("process {} belongs to another user", pid)
                              : fmt::format("the environment of process {} cannot be read: {}", pid, why),
                       others ? "run zerotax as that user or as root, or name the process's control folder with "
                                "--control"
                              : "name its control folder with --control");
  }
  const std::string wanted = std::string(recorder::kControlVariable) + "=";
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    if (text.compare(at, wanted.size(), wanted) == 0) return std::string(text.c_str() + at + wanted.size());
    if (text.find('\0', at) == std::string::npos) break;
  }
  return std::nullopt;
}

/// Returns the number of records in the files and buffers of the trace.
Measured<std::uint64_t> count_now(const std::string& folder) {
  try {
    CtfTrace trace(folder);
    std::uint64_t records = 0;
    trace.for_each([&](const CtfEvent& /*event*/) { ++records; });
    return records;
  } catch (const Error& error) {
    return NotAvailable{error.what()};
  }
}

OrNull<std::string> given(const std::string& names) {
  OrNull<std::string> line;
  if (!names.empty()) line = one_line(names);
  return line;
}

}  // namespace

ControlClient::ControlClient(pid_t pid, const std::string& folder) : pid_(pid) {
  started_ = check_controllable(pid);
  const std::string path = control_path(pid, folder);
  file_ = open_if_regular(path);
  if (!file_) refuse_control_file(pid, path, errno);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size != static_cast<off_t>(sizeof(ControlFile))) {
    throw UsageError(fmt::format("'{}' was not made by this version's recorder", path),
                     "use the zerotax and the recorder of the same version");
  }
  void* memory = ::mmap(nullptr, sizeof(ControlFile), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) refuse_control_file(pid, path, errno);
  control_ = static_cast<ControlFile*>(memory);
  // If a process was killed, its control file remains until another process with a recorder gets the same PID.
  if (std::memcmp(control_->magic, recorder::kControlMagic, sizeof control_->magic) != 0 ||
      control_->started != started_) {
    ::munmap(control_, sizeof(ControlFile));
    refuse_control_file(pid, path, ENOENT);
  }
}

ControlClient::~ControlClient() { ::munmap(control_, sizeof(ControlFile)); }

bool ControlClient::is_alive() const {
  const auto facts = process_facts(pid_);
  return facts && facts->state != 'Z' && facts->state != 'X' && facts->start_ticks == started_;
}

bool ControlClient::is_stopped() const {
  const auto facts = process_facts(pid_);
  return facts && (facts->state == 'T' || facts->state == 't');
}

void ControlClient::lock() {
  const std::int64_t begin = monotonic_ns();
  while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (monotonic_ns() - begin > kPatienceNs) {
      throw MachineError(fmt::format("another zerotax trace is waiting for process {}", pid_), "try again later");
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLookNs));
  }
}

void ControlClient::refuse_ended() const {
  throw UsageError(fmt::format("process {} has ended", pid_), "give --pid the PID of a running program");
}

/// Waits until the process has finished the request of an earlier client that exited without waiting for the answer.
void ControlClient::wait_for_turn() {
  const std::int64_t begin = monotonic_ns();
  for (;;) {
    std::uint32_t state = state_of(*control_).load();
    if (state == state_word(ControlState::kIdle)) return;
    if (state == state_word(ControlState::kAnswered)) {
      state_of(*control_).compare_exchange_strong(state, state_word(ControlState::kIdle));
      continue;
    }
    if (state == state_word(ControlState::kClosed) || !is_alive()) {
      refuse_ended();
    }
    if (monotonic_ns() - begin > kPatienceNs) {
      throw MachineError(fmt::format("process {} is busy with an earlier request", pid_), "try again later");
    }
    recorder::wait_while(*control_, state, &kLook);
  }
}

void ControlClient::wait_for_answer(std::uint32_t answers_before) {
  const std::int64_t begin = monotonic_ns();
  bool told = false;
  for (;;) {
    std::uint32_t state = state_of(*control_).load();
    if (state == state_word(ControlState::kAnswered)) return;
    if (state == state_word(ControlState::kClosed) || !is_alive()) {
      // A process may end as soon as it has answered. The end of the process overwrites the state kAnswered, so the
      // number of answers is compared.
      if (answers_of(*control_).load() != answers_before) return;
      throw MachineError(fmt::format("process {} ended before it answered", pid_),
                         "see the recorded events in the folder of the trace: zerotax trace list FOLDER");
    }
    const std::int64_t waited = monotonic_ns() - begin;
    // Withdraws the request. The request has had no effect yet, but a stopped process would carry it out when it
    // continues.
    const bool gives_up = waited > kPatienceNs || (waited > kStoppedNs && is_stopped());
    if (state == state_word(ControlState::kRequested) && gives_up &&
        state_of(*control_).compare_exchange_strong(state, state_word(ControlState::kIdle))) {
      throw MachineError(fmt::format("process {} does not answer", pid_),
                         "if the process is stopped (state T in ps), continue it: kill -CONT");
    }
    if (state == state_word(ControlState::kTaken) && waited > 2'000'000'000 && !told) {
      told = true;
      print_text(stderr, "process {} is writing its buffers ...\n", pid_);
    }
    recorder::wait_while(*control_, state, &kLook);
  }
}

ControlAnswer ControlClient::ask(recorder::ControlAction action, const recorder::ControlOptions& wanted) {
  lock();
  wait_for_turn();
  control_->wanted = wanted;
  control_->action = static_cast<std::uint32_t>(action);
  const std::uint32_t answers_before = answers_of(*control_).load();
  std::uint32_t idle = state_word(ControlState::kIdle);
  if (!state_of(*control_).compare_exchange_strong(idle, state_word(ControlState::kRequested))) refuse_ended();
  recorder::wake(*control_);
  wait_for_answer(answers_before);
  ControlAnswer answer;
  answer.result = static_cast<recorder::ControlResult>(control_->result);
  answer.message = text_of(control_->message);
  answer.recording = static_cast<recorder::ControlRecording>(control_->recording);
  answer.folder = text_of(control_->current.folder);
  answer.events = text_of(control_->current.events);
  answer.until = text_of(control_->current.until);
  answer.buffer_bytes = control_->current.buffer_bytes;
  answer.mode = control_->current.mode;
  answer.drain = control_->current.drain;
  answer.monotonic = control_->current.monotonic != 0;
  answer.lost = control_->lost;
  // Sets the state to kIdle, unless the process has set kClosed. The process's control thread waits for kIdle.
  std::uint32_t answered = state_word(ControlState::kAnswered);
  state_of(*control_).compare_exchange_strong(answered, state_word(ControlState::kIdle));
  ::flock(file_.get(), LOCK_UN);
  return answer;
}

std::uint64_t check_controllable(pid_t pid) {
  const auto facts = process_facts(pid);
  if (!facts) throw UsageError(fmt::format("there is no process {}", pid), kGivePid);
  if (facts->process != pid) {
    throw UsageError(fmt::format("{} is a thread of process {}", pid, facts->process),
                     fmt::format("give --pid {}", facts->process));
  }
  if (facts->state == 'Z' || facts->state == 'X') throw UsageError(fmt::format("process {} has ended", pid), kGivePid);
  return facts->start_ticks;
}

std::string control_path(pid_t pid, const std::string& folder) {
  std::string found = folder;
  if (found.empty()) {
    if (const char* own = std::getenv(recorder::kControlVariable); own != nullptr) found = own;
  }
  if (found.empty()) {
    found = variable_of(pid).value_or("");
    if (found.empty()) {
      throw UsageError(fmt::format("process {} cannot be controlled", pid),
                       fmt::format("start the program with {}=FOLDER, with the recorder linked or preloaded",
                                   recorder::kControlVariable));
    }
    if (found.front() != '/') found = fmt::format("/proc/{}/cwd/{}", pid, found);
  }
  return fmt::format("{}/{}{}", found, recorder::kControlPrefix, pid);
}

void refuse_control_file(pid_t pid, const std::string& path, int failure) {
  if (failure == EACCES || failure == EPERM || failure == EROFS) {
    throw MachineError(
        fmt::format("you may not control process {}: '{}': {}", pid, path, std::strerror(failure)),
        "run zerotax as the user of the process or as root, or ask for permission to write to that file");
  }
  if (failure == ENOENT || failure == ENOTDIR) {
    throw UsageError(
        fmt::format("process {} has no recorder that can be controlled", pid),
        fmt::format("start the program with {}=FOLDER, with the recorder linked or preloaded; a forked child cannot be "
                    "controlled separately",
                    recorder::kControlVariable));
  }
  throw UsageError(fmt::format("'{}' cannot be used: {}", path, std::strerror(failure)),
                   "name the control folder of the process with --control");
}

Control control_result(pid_t pid, const std::string& action, const ControlAnswer& answer) {
  const std::string name = process_name(pid);
  const bool any = !answer.folder.empty();
  const NotAvailable nothing{"the process has recorded nothing"};
  const auto known = [&](auto value) { return known_if(any, value, nothing.why); };
  Control control;
  control.action = action;
  control.pid = pid;
  control.name = known_if(!name.empty(), one_line(name), "the process has ended");
  control.state = static_cast<RecordingState>(answer.recording);
  control.folder = known(one_line(answer.folder));
  control.buffer_bytes = known(answer.buffer_bytes);
  control.mode = known(std::string(answer.mode == 2 ? "overwrite" : "lost"));
  control.drain = known(std::string(answer.drain == 3 ? "off" : answer.drain == 2 ? "self" : "thread"));
  control.clock = known(std::string(answer.monotonic ? "monotonic" : "tsc"));
  control.events = given(answer.events);
  control.until = given(answer.until);
  control.records = any ? count_now(answer.folder) : nothing;
  control.lost = known(answer.lost);
  return control;
}

std::string control_text(const Control& control) {
  std::string text =
      fmt::format("process {} ({}): {}", control.pid, control.name.value_or("ended"),
                  control.state == RecordingState::kTriggered ? "stopped by its event" : word(control.state));
  if (!control.folder) return text + "\n";
  text += fmt::format("\n  folder   {}\n  buffer   {} per thread, {}, drain {}, clock {}\n", *control.folder,
                      format_size(*control.buffer_bytes), *control.mode, *control.drain, *control.clock);
  text += fmt::format("  events   {}", control.events.value_or("all"));
  if (control.until) text += fmt::format(", until {}", *control.until);
  text += fmt::format("\n  records  {}, {} lost\n", control.records ? format_count(*control.records) : "n/a",
                      format_count(*control.lost));
  return text;
}

}  // namespace zerotax::trace

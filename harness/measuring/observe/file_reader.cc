#include "observe/file_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/lines.h"
#include "base/printable.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/input_file.h"
#include "os/page.h"
#include "os/process_stat.h"
#include "run/allocators.h"

namespace zerotax {
namespace {

constexpr int kLookMs = 20;
constexpr int kStartMs = 10'000;
/// Number of attempts to start the process. Another program may kill the process before it is ready.
constexpr int kStarts = 4;
/// Limit of CPU time for one file, not counting requests that are answered at once. Each file that exceeds the limit
/// halves the limit, so that all slow files together take at most two full limits.
constexpr std::int64_t kMostNs = 4'000'000'000;
constexpr std::int64_t kLeastNs = 50'000'000;
/// Limit of wall time without an answer, as a multiple of the CPU limit, for a process that is stopped or waits.
constexpr std::int64_t kMostWallTimes = 2;
/// Limit of resident memory that no file backs. kReadMemory limits only the process's own allocations.
constexpr std::uint64_t kMostResident = std::uint64_t{768} << 20;
/// Number of processes that may end while they read no file. After that many, no further process is started.
constexpr unsigned kMostUnexplained = 64;
constexpr int kMostTries = 64;
constexpr std::size_t kFilesKept = 64;

std::int64_t cpu_ns_of(pid_t pid) {
  clockid_t clock{};
  return ::clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

std::uint64_t anonymous_bytes(pid_t pid) {
  const auto pages = parse_process_pages(text_of(fmt::format("/proc/{}/statm", pid)));
  return pages ? pages->anonymous() * page_bytes() : 0;
}

/// Returns whether the search for debug information should start at `origin` instead of `known`. A path below /proc is
/// worse, because it names a descriptor instead of the file.
bool tells_more(const FileOrigin& origin, const FileOrigin& known) {
  const auto is_descriptor = [](const FileOrigin& each) { return each.name.starts_with("/proc/"); };
  return known.pid == 0 && (origin.pid > 0 || (is_descriptor(known) && !is_descriptor(origin)));
}

}  // namespace

FileReader& FileReader::shared() {
  static FileReader reader;
  return reader;
}

FileReader::~FileReader() {
  if (owner_ != ::getpid()) return;
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  if (pid_ > 0) ended_.push_back(pid_);
  for (const pid_t pid : ended_) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void FileReader::start() {
  const std::lock_guard lock(mutex_);
  run();
}

pid_t FileReader::pid() {
  const std::lock_guard lock(mutex_);
  return pid_;
}

std::string FileReader::why_unread(const ForeignFile& file) {
  const std::lock_guard lock(mutex_);
  return !file.why.empty() ? file.why : unavailable_;
}

bool FileReader::name_again(ForeignFile& file, std::uint64_t address, Frame& frame) {
  const std::lock_guard lock(mutex_);
  const auto known = file.names.find(address);
  if (known != file.names.end()) {
    frame.function = known->second.function;
    frame.offset = known->second.offset;
    frame.after = known->second.after;
    return true;
  }
  const auto after = file.functions.upper_bound(address);
  if (after == file.functions.begin()) return false;
  const auto& [begin, function] = *std::prev(after);
  if (address >= function.first) return false;
  frame.function = function.second;
  frame.offset = address - begin;
  return true;
}

void FileReader::keep_name(ForeignFile& file, std::uint64_t address, const Frame& frame, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > frame.offset) {
    const std::uint64_t begin = address - frame.offset;
    file.functions[begin] = {begin + bytes, frame.function};
  } else {
    file.names[address] = {frame.function, frame.offset, frame.after};
  }
}

bool is_own_process(pid_t pid) { return pid == ::getpid() || pid == FileReader::shared().pid(); }

std::vector<std::string> unread_files() { return FileReader::shared().problems(); }

std::string unread_files_lines() {
  std::string lines;
  for (const std::string& problem : unread_files()) lines += wrap(problem, "! ", "  ");
  return lines;
}

std::vector<std::string> FileReader::problems() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  if (!unavailable_.empty()) all.push_back(fmt::format("Functions have no names: {}.", unavailable_));
  if (!debuginfod_.problem().empty()) {
    all.push_back(fmt::format("Functions may have no names: {}.", debuginfod_.problem()));
  }
  for (const auto& [identity, file] : files_) {
    if (file->why.empty()) continue;
    all.push_back(fmt::format("Functions of {} have no names: {}.", one_line(printable(file->origin.name)), file->why));
  }
  return all;
}

std::shared_ptr<ForeignFile> FileReader::file(UniqueFd opened, const FileOrigin& origin) {
  const std::lock_guard lock(mutex_);
  if (files_.size() > kFilesKept) {
    std::erase_if(files_, [](const auto& each) { return each.second.use_count() == 1 && each.second->why.empty(); });
  }
  struct stat status {};
  static_cast<void>(::fstat(opened.get(), &status));
  std::shared_ptr<ForeignFile>& file = files_[{status.st_dev, status.st_ino, in_ns(status.st_ctim)}];
  if (!file) {
    file = std::make_shared<ForeignFile>();
    file->fd = std::move(opened);
    file->origin = origin;
    file->number = ++last_file_;
  } else if (tells_more(origin, file->origin)) {
    file->origin = origin;
  }
  return file;
}

/// Starts the process. Returns the reason for a failure, or an empty string.
std::string FileReader::spawn() {
  const std::string program = program_.empty() ? helper_program("read-files") : program_;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, &ends[0]) != 0)
    return "a socket for read-files cannot be created";
  MessageSocket ours{UniqueFd(ends[0])};
  // Duplicates get descriptors above the descriptors that the new process uses.
  const UniqueFd first(ends[1]);
  const UniqueFd theirs(::fcntl(first.get(), F_DUPFD_CLOEXEC, kReadPage + 1));
  const UniqueFd memory(::memfd_create("read-files", MFD_CLOEXEC));
  const UniqueFd page(::fcntl(memory.get(), F_DUPFD_CLOEXEC, kReadPage + 1));
  if (!theirs || !page || ::ftruncate(page.get(), static_cast<off_t>(page_bytes())) != 0)
    return "no shared memory is available";
  if (current_ != nullptr) ::munmap(current_, page_bytes());
  void* shared = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, page.get(), 0);
  current_ = shared != MAP_FAILED ? static_cast<std::atomic<std::uint32_t>*>(shared) : nullptr;
  if (current_ == nullptr) return "no shared memory is available";

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", standard == STDIN_FILENO ? O_RDONLY : O_WRONLY,
                                       0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), kReadSocket);
  ::posix_spawn_file_actions_adddup2(&actions, page.get(), kReadPage);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kReadPage + 1);
  // Ctrl-C must not end the process, because the command may still need names. The caller may have blocked or ignored
  // signals, so the process resets its signal handling.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  std::string name = "read-files";
  char* const argv[] = {name.data(), nullptr};
  char* const environment[] = {nullptr};
  const int failure = ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, &argv[0], &environment[0]);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failure != 0) {
    pid_ = -1;
    return fmt::format("read-files, which reads program files, cannot be started: {}", std::strerror(failure));
  }
  socket_ = std::move(ours);
  pollfd greeting{socket_.fd(), POLLIN, 0};
  if (::poll(&greeting, 1, kStartMs) == 1 && socket_.receive(nullptr)) return "";
  const std::string why = why_ended();
  end("", false);
  return fmt::format("read-files, which reads program files, ended at its start: {}", why);
}

bool FileReader::run() {
  if (pid_ > 0) return true;
  if (!unavailable_.empty()) return false;
  owner_ = ::getpid();
  for (int i = 0; pid_ < 0 && i < kStarts; ++i) unavailable_ = spawn();
  if (!unavailable_.empty()) return false;
  if (generation_++ == 0) limit_ns_ = kMostNs;
  return true;
}

std::string FileReader::why_ended() const {
  siginfo_t info{};
  // The process has ended, or is about to end. Its exit status remains available for another wait (FileReader::ended_).
  for (int i = 0; i < 100; ++i) {
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0) break;
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  if (info.si_pid == 0) return "the file could not be read";
  if (info.si_code != CLD_EXITED)
    return fmt::format("the process that read the file died ({})", signal_name(info.si_status));
  if (info.si_status == kReadNoMemory) return fmt::format("reading the file takes more than {} MiB", kReadMemory >> 20);
  return fmt::format("the process that read the file failed (status {})", info.si_status);
}

void FileReader::end(const std::string& why, bool certainly) {
  ::kill(pid_, SIGKILL);
  ended_.push_back(std::exchange(pid_, -1));
  socket_ = {};
  ForeignFile* file = numbered(current_->load());
  if (file != nullptr) {
    if (++file->failures >= 2 || certainly) file->why = why;
  } else if (++unexplained_ > kMostUnexplained) {
    unavailable_ = "read-files, which reads program files, ended too often";
  }
}

bool FileReader::is_over_limit(std::int64_t begin_ns, std::int64_t& cpu_ns) {
  const std::int64_t cpu = cpu_ns_of(pid_);
  const std::int64_t used = cpu_ns != 0 ? cpu - cpu_ns : 0;
  if (cpu_ns == 0) cpu_ns = cpu;
  const std::int64_t wall = monotonic_ns() - begin_ns;
  const ForeignFile* file = numbered(current_->load());
  const std::int64_t before = file != nullptr ? file->slow_ns : 0;
  if (before + used > limit_ns_ || wall > kMostWallTimes * limit_ns_) {
    // A process that used little CPU time was waiting for a file system or for a CPU.
    const bool ran = before + used > limit_ns_ / 8;
    end(ran ? fmt::format("reading the file takes more than {:.2g} s", static_cast<double>(limit_ns_) / 1e9)
            : fmt::format("the process that read the file waited for {:.2g} s", static_cast<double>(wall) / 1e9),
        ran);
    if (ran) limit_ns_ = std::max(limit_ns_ / 2, kLeastNs);
    return true;
  }
  // The process is not in our process group, so Ctrl-Z cannot have stopped it.
  if (stopped_by(pid_) != 0) {
    end("the process that read the file was stopped", false);
    return true;
  }
  if (anonymous_bytes(pid_) <= kMostResident) return false;
  end(fmt::format("reading the file takes more than {} MiB", kMostResident >> 20), false);
  return true;
}

void FileReader::send_debug_file(MessageReader& question) {
  const ForeignFile* file = numbered(static_cast<std::uint32_t>(question.number()));
  DebugFile wanted;
  wanted.shared = question.number() != 0;
  for (const char each : question.text()) wanted.build_id += fmt::format("{:02x}", static_cast<unsigned char>(each));
  wanted.link = question.text();
  const std::uint64_t skip = question.number();
  UniqueFd found = file != nullptr ? open_debug_file(file->origin, wanted, skip) : UniqueFd();
  // While one sample waits for a download, the kernel would drop other samples. Only kPlace may download, because
  // places are named after the recording.
  if (!found && asked_ == ReadRequest::kPlace) found = debuginfod_.find(wanted.build_id);
  socket_.send(MessageWriter().number(found ? 1 : 0).bytes(), found.get());
}

ForeignFile* FileReader::numbered(std::uint32_t number) {
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const auto& each) { return each.second->number == number; });
  return number != 0 && found != files_.end() ? found->second.get() : nullptr;
}

std::optional<std::string> FileReader::wait_for_answer() {
  std::int64_t begin = monotonic_ns();
  std::int64_t cpu = 0;  ///< CPU time of the process when the first answer was late
  for (;;) {
    pollfd wait{socket_.fd(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, kLookMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if (is_over_limit(begin, cpu)) return std::nullopt;
      continue;
    }
    const auto message = socket_.receive(nullptr);
    if (!message) {
      end(why_ended(), false);
      return std::nullopt;
    }
    MessageReader in(*message);
    if (in.number() == static_cast<std::uint64_t>(ReadAnswer::kDebugFile)) {
      send_debug_file(in);
      begin = monotonic_ns();
      continue;
    }
    ForeignFile* slow = cpu != 0 ? numbered(current_->load()) : nullptr;
    if (slow != nullptr) slow->slow_ns += cpu_ns_of(pid_) - cpu;
    return std::string(message->substr(std::min(message->size(), sizeof(std::uint64_t))));
  }
}

std::optional<std::string> FileReader::exchange(std::uint64_t session, ReadRequest what, const MessageWriter& rest,
                                                const ForeignFile* file) {
  const std::uint32_t number = file != nullptr ? file->number : 0;
  MessageWriter request;
  request.number(static_cast<std::uint64_t>(what)).number(session).number(number).all(rest);
  current_->store(0);
  asked_ = what;
  if (!socket_.send(request.bytes(), file != nullptr ? file->fd.get() : -1)) {
    end(why_ended(), false);
    return std::nullopt;
  }
  return wait_for_answer();
}

std::optional<std::string> FileReader::ask(ReadClient& client, ReadRequest what, const MessageWriter& rest,
                                           ForeignFile* file) {
  const std::lock_guard lock(mutex_);
  if (client.session_ == 0) client.session_ = ++last_session_;
  for (int i = 0; i < kMostTries; ++i) {
    if ((file != nullptr && !file->why.empty()) || !run()) return std::nullopt;
    const bool known =
        client.generation_ == generation_ ||
        std::all_of(client.parts_.begin(), client.parts_.end(), [&](const ReadClient::Part& part) {
          return !part.file->why.empty() || exchange(client.session_, part.what, part.rest, part.file.get());
        });
    if (!known) continue;
    client.generation_ = generation_;
    if (auto answer = exchange(client.session_, what, rest, file)) return answer;
  }
  return std::nullopt;
}

void FileReader::forget(const ReadClient& client) {
  const std::lock_guard lock(mutex_);
  if (pid_ > 0 && client.generation_ == generation_)
    exchange(client.session_, ReadRequest::kEnd, MessageWriter(), nullptr);
}

ReadClient::~ReadClient() { reader_.forget(*this); }

std::optional<std::string> ReadClient::add(ReadRequest what, const std::shared_ptr<ForeignFile>& file,
                                           const MessageWriter& rest) {
  auto answer = reader_.ask(*this, what, rest, file.get());
  const bool known = std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.file == file && part.rest.bytes() == rest.bytes();
  });
  if (answer && !known) parts_.push_back({what, file, rest});
  return answer;
}

std::optional<std::string> ReadClient::ask(ReadRequest what, const MessageWriter& rest) {
  return reader_.ask(*this, what, rest, nullptr);
}

std::optional<std::string> ReadClient::ask_about(FileReader& reader, ForeignFile& file, ReadRequest what,
                                                 const MessageWriter& rest) {
  ReadClient client(reader);
  return reader.ask(client, what, rest, &file);
}

}  // namespace zerotax

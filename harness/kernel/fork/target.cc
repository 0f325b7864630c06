#include "fork/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "files/shared_file.h"
#include "os/page.h"
#include "os/process_info.h"
#include "os/unique_fd.h"
#include "run/allocators.h"
#include "run/interrupt.h"

namespace zerotax::fork {
namespace {

constexpr const char* kBuild = "build it with ./run build";

Pipe make_pipe_or_throw() {
  Pipe pipe = make_pipe();
  if (!pipe.read_end)
    throw MachineError(fmt::format("cannot make a pipe ({})", std::strerror(errno)), "close some files");
  return pipe;
}

/// Bytes after a name in smaps_rollup. Throws MachineError if the kernel does not report the name.
std::uint64_t bytes_of(pid_t pid, const std::string& name) {
  const auto bytes = rollup_bytes(pid, name);
  if (!bytes)
    throw MachineError(fmt::format("/proc/{}/smaps_rollup has no {}", pid, name), "mount /proc; Linux 4.14 or later");
  return *bytes;
}

std::uint64_t entries_of(const std::string& folder) {
  std::error_code error;
  std::uint64_t entries = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) ++entries;
  return entries;
}

}  // namespace

ForkTarget::ForkTarget(const ForkTargetSize& size) {
  const std::string program = helper_program("fork-target");
  if (::access(program.c_str(), X_OK) != 0) {
    throw MachineError(fmt::format("{} is missing: this build had no static C library", program), kBuild);
  }
  const SharedFile record("zerotax-fork", sizeof(ForkRun));
  void* memory = ::mmap(nullptr, sizeof(ForkRun), PROT_READ | PROT_WRITE, MAP_SHARED, record.fd(), 0);
  if (memory == MAP_FAILED) throw MachineError("shared memory is unavailable", "free some memory");
  record_ = static_cast<ForkRun*>(memory);
  record_->magic = kForkRunMagic;

  Pipe to = make_pipe_or_throw();
  Pipe from = make_pipe_or_throw();
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to.read_end.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, from.write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, record.fd(), record.fd());  // duplicating the descriptor onto itself
                                                                           // lets the child inherit it
  std::vector<std::string> words{program,
                                 std::to_string(record.fd()),
                                 fmt::format("populated={}", size.populated_bytes),
                                 "kind=" + size.kind,
                                 fmt::format("mappings={}", size.mappings),
                                 fmt::format("descriptors={}", size.descriptors),
                                 fmt::format("threads={}", size.threads)};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char* environment[] = {nullptr};
  const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), &environment[0]);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    kill();
    throw MachineError(fmt::format("{} cannot be started ({})", program, std::strerror(error)), kBuild);
  }
  to_ = std::move(to.write_end);
  from_ = std::move(from.read_end);
  from.write_end = UniqueFd();
  try {
    wait_for("ready\n\n");
    read_facts();
  } catch (...) {
    kill();
    throw;
  }
}

ForkTarget::~ForkTarget() { kill(); }

void ForkTarget::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
  if (record_ != nullptr) ::munmap(record_, sizeof(ForkRun));
  record_ = nullptr;
}

void ForkTarget::wait_for(const std::string& word) {
  std::string said;
  while (said.size() < word.size()) {
    pollfd ready{from_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 100) < 0 && errno != EINTR) break;
    end_if_stopped();
    if (ready.revents == 0) continue;
    char text[256];
    const ssize_t got = ::read(from_.get(), &text[0], sizeof text);
    if (got <= 0) break;
    said.append(&text[0], static_cast<std::size_t>(got));
    if (!word.starts_with(said)) break;
  }
  if (said == word) return;
  const std::string line = said.substr(0, said.find('\n'));
  throw MachineError(
      line.empty() ? "the forking process was killed (out of memory?)" : fmt::format("the forking process: {}", line),
      "give a smaller --to, or raise the limit");
}

ForkTimes ForkTarget::run(std::uint32_t forks, std::uint64_t flags, ForkMethod method) {
  record_->forks = forks;
  record_->clone_flags = flags;
  record_->method = method;
  if (::write(to_.get(), "go\n", 3) != 3) throw MachineError("the forking process has ended", "try again");
  wait_for("done\n");
  if (record_->error != 0) {
    throw MachineError(fmt::format("a fork failed ({})", std::strerror(record_->error)), "give a smaller --to");
  }
  return {{&record_->call_ns[0], &record_->call_ns[record_->done]},
          {&record_->gone_ns[0], &record_->gone_ns[record_->done]}};
}

void ForkTarget::read_facts() {
  const std::uint64_t huge_bytes = bytes_of(pid_, "AnonHugePages");
  facts_.huge_pages = huge_bytes / huge_page_bytes();
  // The kernel does not count memory of MAP_SHARED as anonymous.
  facts_.pages = (bytes_of(pid_, "Anonymous") - huge_bytes) / page_bytes();
  facts_.mappings = process_mappings(pid_).size();
  facts_.descriptors = entries_of(fmt::format("/proc/{}/fd", pid_));
  facts_.threads = process_threads(pid_).size();
}

}  // namespace zerotax::fork

// Hooks of the exec functions. Each hook writes an entry into the arena, so that the program is known even if it does
// not load the recorder. This file also hooks functions that start a process with shared memory.
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "os/clock.h"
#include "record/preload/calls.h"
#include "record/preload/ending.h"
#include "record/preload/forks.h"
#include "record/preload/holdings.h"
#include "record/preload/modules.h"
#include "record/preload/process.h"
#include "record/preload/quiet_child.h"
#include "record/preload/resident.h"
#include "record/preload/text.h"

#define ZEROTAX_EXPORT extern "C" [[gnu::visibility("default")]]

namespace zerotax::record {
namespace {

using Environment = char* const*;
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, Environment,
                      Environment);

using Clone = int (*)(int (*)(void*), void*, int, void*, ...);

// The exec functions are looked up early, because a child of vfork, or of a threaded program, must not take a lock.
struct RealExec {
  int (*execve)(const char*, Environment, Environment);
  int (*execvpe)(const char*, Environment, Environment);
  int (*fexecve)(int, Environment, Environment);
  Spawn posix_spawn;
  Spawn posix_spawnp;
  Clone clone;
  void* vfork;
  int (*system)(const char*);
  std::FILE* (*popen)(const char*, const char*);
  int (*close_range)(unsigned, unsigned, int);  ///< nullptr before glibc 2.34
  void (*closefrom)(int);                       ///< nullptr before glibc 2.34
};
RealExec real_exec{};

[[gnu::constructor]] void resolve_exec() {
  const OwnWork own;
  const auto find = [](const char* symbol, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_next(symbol));
  };
  find("execve", real_exec.execve);
  find("execvpe", real_exec.execvpe);
  find("fexecve", real_exec.fexecve);
  find("posix_spawn", real_exec.posix_spawn);
  find("posix_spawnp", real_exec.posix_spawnp);
  find("clone", real_exec.clone);
  find("system", real_exec.system);
  find("popen", real_exec.popen);
  find("close_range", real_exec.close_range);
  find("closefrom", real_exec.closefrom);
  real_exec.vfork = find_next("vfork");
}

void resolve_if_early() {
  if (real_exec.execve == nullptr) resolve_exec();
}

bool preloads_us(Environment environment) {
  constexpr const char* kPreload = "LD_PRELOAD=";
  bool preloaded = false;
  bool arena_named = false;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const char* entry = *environment;
    if (std::strncmp(entry, kPreload, std::strlen(kPreload)) == 0) preloaded = std::strstr(entry, "zerotax-record");
    const std::size_t name = std::strlen(kArenaVariable);
    arena_named = arena_named || (std::strncmp(entry, kArenaVariable, name) == 0 && entry[name] == '=');
  }
  return preloaded && arena_named;
}

ExecEntry* announce(const char* path, Environment environment, std::int64_t at_ns, pid_t pid) {
  const OwnWork own;
  if (arena == nullptr || path == nullptr) return nullptr;
  const std::uint32_t index = take_entry(arena->execs_used, &arena->execs[0], kExecs);
  if (index == kExecs) return nullptr;
  ExecEntry& entry = arena->execs[index];
  entry.pid = pid;
  entry.at_ns = at_ns;
  entry.cleaned = preloads_us(environment) ? 0 : 1;
  entry.unreachable = arena_is_reachable() ? 0 : 1;
  copy_text(entry.path, path);
  entry.ready = 1;
  return &entry;
}

/// Announces a program and tries to execute it. Withdraws the announcement if the exec fails.
template <typename Become>
int announced(const char* path, Environment environment, Become become) {
  resolve_if_early();
  const int saved = errno;
  ExecEntry* entry = announce(path, environment, monotonic_ns(), ::getpid());
  if (is_sharer()) {
    const SharerUse use = note_sharer_end();
    if (entry != nullptr) entry->shared = use;
    const ExecOfFork exec = note_exec_of_fork();
    errno = saved;
    const int status = become();
    take_back(exec);
    take_back({use, entry});
    return status;
  }
  const bool quiet = stays_quiet();
  const SharerUse use = quiet ? note_quiet_end(true) : SharerUse{};
  if (quiet && entry != nullptr) entry->shared = use;
  note_held_blocks();
  note_resident_end();
  close_holdings();
  const ExecOfFork exec = note_exec_of_fork();
  errno = saved;
  const int status = become();
  take_back(exec);
  if (quiet) take_back_quiet_end(use);
  if (entry != nullptr) entry->failed = static_cast<std::uint32_t>(errno);
  reopen_holdings();
  return status;
}

int spawned(Spawn spawn, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
            const posix_spawnattr_t* attributes, Environment arguments, Environment environment) {
  const std::int64_t at_ns = monotonic_ns();
  pid_t child = 0;
  begin_fork(ForkKind::kSpawn);
  const int status = spawn(&child, path, actions, attributes, arguments, environment);
  end_fork(status == 0);
  if (status != 0) return status;
  if (pid != nullptr) *pid = child;
  const int saved = errno;
  announce(path, environment, at_ns, child);
  errno = saved;
  return status;
}

/// Calls become(arguments, environment) with the arguments of a variadic exec. Passes the process's own environment if
/// no environment follows the arguments.
template <typename Become>
int with_words(const char* first, va_list words, bool environment_follows, Become become) {
  va_list counting;
  va_copy(counting, words);
  std::size_t count = 1;
  // The analyzer does not see that the caller's va_start initialized `words`.
  while (va_arg(counting, const char*) != nullptr) ++count;  // NOLINT(clang-analyzer-valist.Uninitialized)
  va_end(counting);
  // The arguments are copied to the stack, because a child of vfork must not allocate in its parent's memory.
  auto** arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  arguments[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i <= count; ++i) arguments[i] = va_arg(words, char*);
  Environment environment = environment_follows ? va_arg(words, Environment) : environ;
  return become(arguments, environment);
}

/// The start function of a process with shared memory, and its argument.
struct SharerStart {
  int (*run)(void*);
  void* argument;
};

int run_sharer(void* start) {
  const SharerStart sharer = *static_cast<SharerStart*>(start);
  const int status = sharer.run(sharer.argument);
  if (is_sharer()) end_sharer();
  return status;
}

void note_sharer() {
  if (process == nullptr) return;
  // This process owns the shared memory. If the process is a child of fork, it may not have a slot yet.
  if (guard.alive == 0) prepare(state);
  ++process->holdings.sharers_begun;
}

int exec_path(const char* path, Environment arguments, Environment environment) {
  return announced(path, environment, [&] { return real_exec.execve(path, arguments, environment); });
}

int exec_file(const char* file, Environment arguments, Environment environment) {
  return announced(file, environment, [&] { return real_exec.execvpe(file, arguments, environment); });
}

}  // namespace

SharerEnd end_sharer() {
  const SharerUse use = note_sharer_end();
  const std::uint32_t index = arena == nullptr ? kExecs : take_entry(arena->execs_used, &arena->execs[0], kExecs);
  if (index == kExecs) return {use, nullptr};
  ExecEntry& entry = arena->execs[index];
  entry.pid = ::getpid();
  entry.at_ns = monotonic_ns();
  entry.ended = 1;
  entry.shared = use;
  entry.ready = 1;
  return {use, &entry};
}

void take_back(const SharerEnd& end) {
  take_back_sharer_end(end.use);
  if (end.entry != nullptr) end.entry->failed = static_cast<std::uint32_t>(errno);
}

}  // namespace zerotax::record

using namespace zerotax::record;

ZEROTAX_EXPORT int execve(const char* path, Environment arguments, Environment environment) noexcept {
  return exec_path(path, arguments, environment);
}

ZEROTAX_EXPORT int execv(const char* path, Environment arguments) noexcept {
  return exec_path(path, arguments, environ);
}

ZEROTAX_EXPORT int execvp(const char* file, Environment arguments) noexcept {
  return exec_file(file, arguments, environ);
}

ZEROTAX_EXPORT int execvpe(const char* file, Environment arguments, Environment environment) noexcept {
  return exec_file(file, arguments, environment);
}

ZEROTAX_EXPORT int fexecve(int fd, Environment arguments, Environment environment) noexcept {
  char link[40];
  char path[kPathBytes];
  std::snprintf(&link[0], sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(&link[0], &path[0], sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return announced(&path[0], environment, [&] { return real_exec.fexecve(fd, arguments, environment); });
}

ZEROTAX_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  va_list words;
  va_start(words, first);
  const int status = with_words(first, words, false, [&](Environment arguments, Environment environment) {
    return exec_path(path, arguments, environment);
  });
  va_end(words);
  return status;
}

ZEROTAX_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  va_list words;
  va_start(words, first);
  const int status = with_words(first, words, false, [&](Environment arguments, Environment environment) {
    return exec_file(file, arguments, environment);
  });
  va_end(words);
  return status;
}

ZEROTAX_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  va_list words;
  va_start(words, first);
  const int status = with_words(first, words, true, [&](Environment arguments, Environment environment) {
    return exec_path(path, arguments, environment);
  });
  va_end(words);
  return status;
}

ZEROTAX_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, Environment arguments, Environment environment) {
  resolve_if_early();
  return spawned(real_exec.posix_spawn, pid, path, actions, attributes, arguments, environment);
}

ZEROTAX_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, Environment arguments, Environment environment) {
  resolve_if_early();
  return spawned(real_exec.posix_spawnp, pid, file, actions, attributes, arguments, environment);
}

/// If a child shares this process's memory without being its thread, it ends without calling the C library.
/// run_sharer() therefore records its end.
ZEROTAX_EXPORT int clone(int (*run)(void*), void* stack, int flags, void* argument, ...) noexcept {
  resolve_if_early();
  va_list more;
  va_start(more, argument);
  auto* const parent_tid = va_arg(more, pid_t*);
  void* const thread_area = va_arg(more, void*);
  auto* const child_tid = va_arg(more, pid_t*);
  va_end(more);
  const bool shares = (flags & (CLONE_VM | CLONE_THREAD)) == CLONE_VM;
  if (!shares || run == nullptr || stack == nullptr) {
    const bool is_fork = (flags & CLONE_VM) == 0;
    if (is_fork) begin_fork(ForkKind::kFork);
    const int child = real_exec.clone(run, stack, flags, argument, parent_tid, thread_area, child_tid);
    if (is_fork) end_fork(child > 0);
    return child;
  }
  constexpr std::uintptr_t kAlignment = 16;
  const auto end = reinterpret_cast<std::uintptr_t>(stack) & ~(kAlignment - 1);
  auto* const start = reinterpret_cast<SharerStart*>(end - sizeof(SharerStart));
  *start = {run, argument};
  note_sharer();
  begin_fork((flags & CLONE_VFORK) != 0 ? ForkKind::kVfork : ForkKind::kSharer);
  const int child = real_exec.clone(run_sharer, start, flags, start, parent_tid, thread_area, child_tid);
  end_fork(child > 0);
  if (child < 0 && process != nullptr) --process->holdings.sharers_begun;
  return child;
}

ZEROTAX_EXPORT int system(const char* command) {
  resolve_if_early();
  if (command == nullptr) return real_exec.system(command);
  begin_fork(ForkKind::kSpawn);
  const int status = real_exec.system(command);
  end_fork(status != -1, false);
  return status;
}

ZEROTAX_EXPORT std::FILE* popen(const char* command, const char* mode) {
  resolve_if_early();
  begin_fork(ForkKind::kSpawn);
  std::FILE* const pipe = real_exec.popen(command, mode);
  end_fork(pipe != nullptr);
  return pipe;
}

ZEROTAX_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  resolve_if_early();
  note_closed_range();
  if (real_exec.close_range != nullptr) return real_exec.close_range(first, last, flags);
  errno = ENOSYS;
  return -1;
}

ZEROTAX_EXPORT void closefrom(int first) noexcept {
  resolve_if_early();
  note_closed_range();
  if (real_exec.closefrom != nullptr) real_exec.closefrom(first);
}

namespace {

/// Return addresses of a thread's calls to vfork. The addresses are not on the stack, because the child writes to its
/// parent's stack. A child of vfork may call vfork, too, and then shares this variable with its parent.
struct VforkCalls {
  static constexpr std::uint32_t kMost = 8;
  pid_t callers[kMost];
  std::uintptr_t back[kMost];
  std::uint32_t used;
};
constinit thread_local VforkCalls vfork_calls [[gnu::tls_model("initial-exec")]]{};

struct TwoRegisters {
  std::uintptr_t first;
  std::uintptr_t second;
};

}  // namespace

/// Returns the C library's vfork, which the vfork in syscall_*.cc then calls, and whether zerotax_end_vfork must be
/// called when vfork returns.
extern "C" [[gnu::visibility("hidden"), gnu::used]] TwoRegisters zerotax_begin_vfork(std::uintptr_t back) {
  resolve_if_early();
  note_sharer();
  VforkCalls& calls = vfork_calls;
  const auto function = reinterpret_cast<std::uintptr_t>(real_exec.vfork);
  if (calls.used == VforkCalls::kMost) return {function, 0};
  calls.callers[calls.used] = ::getpid();
  calls.back[calls.used] = back;
  ++calls.used;
  begin_fork(ForkKind::kVfork);
  return {function, 1};
}

/// Runs first in the child and then in the parent. Returns `child`, the result of vfork, and the address to return to.
extern "C" [[gnu::visibility("hidden"), gnu::used]] TwoRegisters zerotax_end_vfork(std::uintptr_t child) {
  VforkCalls& calls = vfork_calls;
  std::uint32_t last = calls.used - 1;
  if (child != 0) {
    const int saved = errno;
    // A child that was killed while it waited for its own child has not removed its call.
    while (last > 0 && calls.callers[last] != ::getpid()) --last;
    calls.used = last;
    end_fork(static_cast<pid_t>(child) > 0);
    errno = saved;
  }
  return {child, calls.back[last]};
}

#include "record/preload/forks.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/clock.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/site.h"
#include "record/preload/state.h"

namespace zerotax::record {
namespace {

/// The attributes of a process that a child may change before its exec.
struct Identity {
  uid_t user;
  uid_t effective_user;
  gid_t group;
  gid_t effective_group;
  std::uint64_t groups;  ///< hash of the supplementary groups, or the number of groups if there are more than 64
  pid_t session;
  pid_t process_group;
};

std::uint64_t hash_of_groups() {
  constexpr int kMostGroups = 64;
  gid_t groups[kMostGroups];
  const int count = ::getgroups(kMostGroups, &groups[0]);
  if (count < 0) return static_cast<std::uint64_t>(::getgroups(0, nullptr));
  std::uint64_t hash = static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) hash = (hash ^ groups[i]) * 0x100000001b3;  // FNV-1a
  return hash;
}

Identity own_identity() {
  return {::getuid(), ::geteuid(), ::getgid(), ::getegid(), hash_of_groups(), ::getsid(0), ::getpgid(0)};
}

struct ForkCall {
  ForkSite* site;
  std::int64_t began_ns;
  Identity identity;
};

/// The thread's present call. A child of vfork runs in its parent's thread, and so sees the call that started it.
constinit thread_local ForkCall fork_call [[gnu::tls_model("initial-exec")]]{};
/// The call that started this process, if this process is a child of fork.
ForkCall origin{};
/// Whether this process, a child of fork, has closed a range of descriptors.
bool has_closed_range = false;

ForkSite* current_fork_site(ForkKind kind) {
  ForkSite* site = nullptr;
  on_own_stack([&] {
    Stack stack;
    current_stack(stack);
    // Frames are relative to the modules of one process.
    const auto owner = static_cast<std::uint64_t>(process->started_ns) ^ static_cast<std::uint64_t>(process->pid);
    const std::uint64_t key = key_of(stack, owner * kForkKinds + static_cast<std::uint64_t>(kind));
    site = find_row(arena->forks, stack, key, [&](ForkSite& row) {
      row.kind = kind;
      row.pid = process->pid;
      row.started_ns = process->started_ns;
    });
    if (site == nullptr) ++arena->forks_lost;
  });
  return site;
}

/// Whether this process has requested memory since it was forked.
bool has_allocated() {
  if (process == nullptr || process->pid != ::getpid() || state.block == nullptr) return false;
  for (const auto& kind : state.block->calls) {
    for (const CallRow& row : kind) {
      if (row.calls != 0) return true;
    }
  }
  return false;
}

}  // namespace

void begin_fork(ForkKind kind, std::uint64_t held_bytes) {
  fork_call.site = nullptr;
  if (process == nullptr) return;
  if (guard.alive == 0) prepare(state);
  const TimedOwnWork own;
  ForkSite* const site = current_fork_site(kind);
  if (site == nullptr) return;
  ++site->calls;
  site->held_bytes += held_bytes;
  fork_call = {site, 0, {}};
  if (kind == ForkKind::kFork) fork_call.identity = own_identity();
  fork_call.began_ns = monotonic_ns();
}

void end_fork(bool started, bool timed) {
  ForkSite* const site = fork_call.site;
  if (site == nullptr) return;
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, monotonic_ns() - fork_call.began_ns));
  fork_call.site = nullptr;
  if (!started) {
    ++site->failed;
  } else if (timed) {
    ++site->timed;
    site->ns += ns;
    raise(site->longest_ns, ns);
  }
}

void note_fork_in_child() {
  origin = fork_call;
  fork_call.site = nullptr;
  has_closed_range = false;
}

void note_closed_range() {
  // A child of vfork shares `has_closed_range` with its parent. While that child runs, `fork_call.site` is set, and its
  // calls are ignored.
  if (origin.site != nullptr && fork_call.site == nullptr) has_closed_range = true;
}

ExecOfFork note_exec_of_fork() {
  const ForkCall& call = fork_call.site != nullptr ? fork_call : origin;
  if (call.site == nullptr) return {};
  const int saved = errno;
  ExecOfFork exec{call.site, static_cast<std::uint64_t>(std::max<std::int64_t>(0, monotonic_ns() - call.began_ns)),
                  false,     false,
                  false,     false};
  if (exec.site->kind == ForkKind::kFork) {
    const Identity now = own_identity();
    const Identity& before = call.identity;
    exec.allocated = has_allocated();
    exec.new_user = now.user != before.user || now.effective_user != before.effective_user ||
                    now.group != before.group || now.effective_group != before.effective_group ||
                    now.groups != before.groups;
    exec.new_session = now.session != before.session || now.process_group != before.process_group;
    exec.closed = has_closed_range;
  }
  ++exec.site->execs;
  exec.site->exec_ns += exec.ns;
  exec.site->allocated += exec.allocated ? 1 : 0;
  exec.site->new_user += exec.new_user ? 1 : 0;
  exec.site->new_session += exec.new_session ? 1 : 0;
  exec.site->closed += exec.closed ? 1 : 0;
  errno = saved;
  return exec;
}

void take_back(const ExecOfFork& exec) {
  if (exec.site == nullptr) return;
  --exec.site->execs;
  exec.site->exec_ns -= exec.ns;
  exec.site->allocated -= exec.allocated ? 1 : 0;
  exec.site->new_user -= exec.new_user ? 1 : 0;
  exec.site->new_session -= exec.new_session ? 1 : 0;
  exec.site->closed -= exec.closed ? 1 : 0;
}

}  // namespace zerotax::record

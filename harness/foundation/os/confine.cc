#include "os/confine.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "os/limits.h"
#include "os/processor.h"

namespace zerotax {
namespace {

/// Sanitizers read /proc and reserve terabytes of address space while a program runs, so both remain permitted in
/// sanitized builds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// User IDs from this one on belong to no user, not even in a container (systemd's "Users, Groups, UIDs and GIDs").
/// Each process gets a separate ID, so that no other process may send it signals. The user "nobody" is unsuitable,
/// because other processes may run as that user.
constexpr uid_t kFirstFreeUser = 0x70000000;
constexpr uid_t kNobody = 65534;

bool become(uid_t user) { return ::setresgid(user, user, user) == 0 && ::setresuid(user, user, user) == 0; }

void drop_rights() {
  if (::geteuid() == 0) {
    static_cast<void>(::setgroups(0, nullptr));
    // A user namespace has only the users that are mapped into it.
    if (!become(kFirstFreeUser + static_cast<uid_t>(::getpid()))) static_cast<void>(become(kNobody));
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  ::syscall(SYS_capset, &head, &none[0]);
}

constexpr long kAllowed[] = {
    SYS_read,         SYS_pread64,   SYS_recvmsg,       SYS_sendmsg,         SYS_fstat,  SYS_newfstatat,
    SYS_lseek,        SYS_close,     SYS_dup,           SYS_munmap,          SYS_mremap, SYS_madvise,
    SYS_brk,          SYS_futex,     SYS_setitimer,     SYS_getpid,          SYS_exit,   SYS_exit_group,
    SYS_rt_sigreturn, SYS_getrandom, SYS_clock_gettime, SYS_restart_syscall,
};
/// The third argument of these calls is the protection of memory.
constexpr long kProtecting[] = {SYS_mmap, SYS_mprotect};

void filter_system_calls() {
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kIfBit = BPF_JMP | BPF_JSET | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EACCES;
  // The low half of an argument comes first on both supported processors.
  const auto argument = [](std::size_t i) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + i * sizeof(std::uint64_t));
  };
  std::vector<sock_filter> program = {
      {kLoad, 0, 0, offsetof(seccomp_data, arch)},
      {kIfEqual, 1, 0, kAuditArchitecture},  // call numbers are known for this architecture only
      {kReturn, 0, 0, SECCOMP_RET_KILL_PROCESS},
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
  };
  for (const long call : kAllowed) {
    program.push_back({kIfEqual, 0, 1, static_cast<std::uint32_t>(call)});
    program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  }
  for (const long call : kProtecting) {
    program.push_back({kIfEqual, 0, 4, static_cast<std::uint32_t>(call)});
    program.push_back({kLoad, 0, 0, argument(2)});
    program.push_back({kIfBit, 0, 1, PROT_EXEC});
    program.push_back({kReturn, 0, 0, kRefuse});
    program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  }
  // libelf reads a descriptor's flags to check that the descriptor is open.
  program.push_back({kIfEqual, 0, 4, SYS_fcntl});
  program.push_back({kLoad, 0, 0, argument(1)});
  program.push_back({kIfEqual, 1, 0, F_GETFD});
  program.push_back({kReturn, 0, 0, kRefuse});
  program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  // A process may change its own limits, but not the limits of another process.
  program.push_back({kIfEqual, 0, 4, SYS_prlimit64});
  program.push_back({kLoad, 0, 0, argument(0)});
  program.push_back({kIfEqual, 1, 0, 0});
  program.push_back({kReturn, 0, 0, kRefuse});
  program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  program.push_back({kReturn, 0, 0, kRefuse});
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

void set_limit(__rlimit_resource resource, rlim_t value) {
  const rlimit limit{value, value};
  ::setrlimit(resource, &limit);
}

}  // namespace

void confine_process() {
  allow_many_files();
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
  set_limit(RLIMIT_NPROC, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  drop_rights();
  // A change of user sets PR_SET_DUMPABLE to fs.suid_dumpable, so this call follows drop_rights(). No other process may
  // read this process's memory or trace it.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (!kSanitized) filter_system_calls();
}

void limit_address_space(std::uint64_t bytes) {
  if (kSanitized) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || bytes < limit.rlim_max ? bytes : limit.rlim_max;
  ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace zerotax

#include "os/machine_trouble.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

#include "os/limits.h"

namespace zerotax {
namespace {

/// Stack size below which the loader and a first call run out of stack. No measurement needs such a small stack.
constexpr std::uint64_t kSmallStack = std::uint64_t{256} * 1024;

std::string raise_words(int resource) {
  return fmt::format("raise the limit, as with ulimit {} {}", limit_option(resource),
                     resource == RLIMIT_NOFILE ? "1024" : "unlimited");
}

/// An errno, the limits that may cause it, and the remedy if no limit is the cause.
struct Cause {
  int error;
  int resources[3];  ///< -1 if unused
  const char* otherwise;
};

constexpr Cause kCauses[] = {
    {EMFILE, {RLIMIT_NOFILE, -1, -1}, "close inherited descriptors, or raise ulimit -n"},
    {ENFILE, {-1, -1, -1}, "the whole system is out of descriptors: end some programs, or raise fs.file-max"},
    {EFBIG, {RLIMIT_FSIZE, -1, -1}, "raise the limit of file sizes, as with ulimit -f unlimited"},
    {EAGAIN,
     {RLIMIT_NPROC, -1, -1},
     "no further process or thread is allowed: raise ulimit -u, or pids.max of the cgroup"},
    {ENOMEM, {RLIMIT_AS, RLIMIT_DATA, -1}, "free some memory"},
    {EPERM,
     {-1, -1, -1},
     "a seccomp filter or security module forbids the call: allow the call, or measure outside the sandbox"},
    {EACCES, {-1, -1, -1}, "a security module or the file's permissions forbid the access: allow the access"},
    {ENOSYS,
     {-1, -1, -1},
     "this kernel lacks the call, or a seccomp filter denies it: allow the call, or measure outside the sandbox"},
};

}  // namespace

MachineError call_trouble(const std::string& what, int error) {
  const std::string problem = fmt::format("{}: {}", what, std::strerror(error));
  for (const Cause& cause : kCauses) {
    if (cause.error != error) continue;
    for (const int resource : cause.resources) {
      if (resource < 0 || !resource_limit(resource)) continue;
      return {fmt::format("{} ({})", problem, limit_words(resource)), raise_words(resource)};
    }
    return {problem, cause.otherwise};
  }
  return {problem, "see `zerotax doctor`"};
}

MachineError start_trouble(const std::string& what, const ChildResult& child, const std::string& missing_remedy) {
  const std::string problem = fmt::format("{} cannot be started: {}", what, child.failed_call);
  // An exec error concerns the file, and any other error concerns the machine.
  const bool by_file = std::strcmp(child.failed_call, "exec") == 0 && child.code != EAGAIN && child.code != ENOMEM;
  if (by_file) return {fmt::format("{}: {}", problem, std::strerror(child.code)), missing_remedy};
  return call_trouble(problem, child.code);
}

MachineError probe_trouble(const std::string& what, const std::string& words) {
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA}) {
    if (!resource_limit(resource)) continue;
    return {fmt::format("{} {} ({})", what, words, limit_words(resource)), raise_words(resource)};
  }
  return {fmt::format("{} {}", what, words), "free some memory, or raise ulimit -u"};
}

std::optional<int> limit_behind(const ChildResult& child) {
  if (child.end != ChildResult::End::kSignalled && child.end != ChildResult::End::kExited) return std::nullopt;
  const auto killed_by = [&](int signal) { return child.end == ChildResult::End::kSignalled && child.code == signal; };
  if (killed_by(SIGXCPU) && resource_limit(RLIMIT_CPU)) return RLIMIT_CPU;
  if (killed_by(SIGXFSZ) && resource_limit(RLIMIT_FSIZE)) return RLIMIT_FSIZE;
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA}) {
    if (resource_limit(resource)) return resource;
  }
  const auto stack = resource_limit(RLIMIT_STACK);
  if (killed_by(SIGSEGV) && stack && *stack < kSmallStack) return RLIMIT_STACK;
  return std::nullopt;
}

void throw_if_limited(const ChildResult& child, const std::string& how) {
  const auto limit = limit_behind(child);
  if (!limit) return;
  throw MachineError(fmt::format("{}; under {}, this result proves nothing", how, limit_words(*limit)),
                     raise_words(*limit) + ", and measure again");
}

void require_proc() {
  if (::access("/proc/self/stat", R_OK) == 0) return;
  throw MachineError("/proc is not mounted, but most measurements read it",
                     "mount /proc, as with mount -t proc proc /proc");
}

}  // namespace zerotax

// The process that forks for `zerotax fork`. The program is static, and as small as possible. The process acquires the
// memory and resources that its arguments request, and reports that it is ready. For each line on standard input, the
// process then carries out the request in the shared sample block.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "fork/process/fork_run.h"

namespace zerotax {
namespace {

/// The memory and other resources that the process acquires beyond its needs.
struct TargetSize {
  std::uint64_t populated_bytes = 0;
  enum class Kind { kPrivate, kHuge, kShared, kDontFork } kind = Kind::kPrivate;  ///< kind of the populated memory
  std::uint64_t mappings = 0;  ///< each has one populated page, followed by a gap
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;  ///< threads that sleep
};

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

/// The text after NAME= in a word; nullptr if the word does not start with NAME=.
const char* value_of(const char* word, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : nullptr;
}

bool parse_number(const char* word, const char* name, std::uint64_t& number) {
  const char* digits = value_of(word, name);
  if (digits == nullptr) return false;
  char* end = nullptr;
  number = std::strtoull(digits, &end, 10);
  return end != digits && *end == '\0';
}

bool parse_kind(const char* word, TargetSize::Kind& kind) {
  const char* name = value_of(word, "kind");
  if (name == nullptr) return false;
  using Kind = TargetSize::Kind;
  for (const auto& [known, value] : {std::pair{"private", Kind::kPrivate},
                                     {"huge", Kind::kHuge},
                                     {"shared", Kind::kShared},
                                     {"dontfork", Kind::kDontFork}}) {
    if (std::strcmp(name, known) != 0) continue;
    kind = value;
    return true;
  }
  return false;
}

bool populate(std::uint64_t bytes, TargetSize::Kind kind) {
  if (bytes == 0) return true;
  const std::uint64_t page = page_bytes();
  const std::uint64_t huge = page * (page / 8);  // the same formula as in os/page.h
  const int sharing = kind == TargetSize::Kind::kShared ? MAP_SHARED : MAP_PRIVATE;
  void* memory = ::mmap(nullptr, bytes + huge, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  // Memory of every kind begins at a boundary of huge pages and of page tables.
  auto* begin = reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(memory) + huge - 1) & ~(huge - 1));
  ::madvise(begin, bytes, kind == TargetSize::Kind::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (kind == TargetSize::Kind::kDontFork && ::madvise(begin, bytes, MADV_DONTFORK) != 0) return false;
  for (std::uint64_t at = 0; at < bytes; at += page) *static_cast<volatile unsigned char*>(begin + at) = 1;
  return true;
}

bool map_apart(std::uint64_t mappings) {
  if (mappings == 0) return true;
  const std::uint64_t page = page_bytes();
  void* memory = ::mmap(nullptr, 2 * mappings * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, 2 * mappings * page, MADV_NOHUGEPAGE);
  auto* at = static_cast<unsigned char*>(memory);
  for (std::uint64_t i = 0; i < mappings; ++i, at += 2 * page) {
    if (::munmap(at + page, page) != 0) return false;
    *static_cast<volatile unsigned char*>(at) = 1;
  }
  return true;
}

bool open_descriptors(std::uint64_t descriptors) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < descriptors + 16) {
    limit.rlim_cur = descriptors + 16;
    if (limit.rlim_max < limit.rlim_cur) limit.rlim_max = limit.rlim_cur;  // root may raise the hard limit
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  }
  for (std::uint64_t i = 0; i < descriptors; ++i) {
    if (::open("/dev/null", O_RDONLY) < 0) return false;
  }
  return true;
}

void* sleep_for_good(void* /*unused*/) {
  for (;;) ::pause();
}

bool start_threads(std::uint64_t threads) {
  pthread_attr_t attributes{};
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 64 << 10);
  for (std::uint64_t i = 0; i < threads; ++i) {
    pthread_t thread{};
    if ((errno = ::pthread_create(&thread, &attributes, sleep_for_good, nullptr)) != 0) return false;
  }
  return true;
}

/// Reads the words NAME=NUMBER and kind=NAME. Returns nullptr, or the invalid word.
const char* parse_size(char** words, TargetSize& size) {
  for (; *words != nullptr; ++words) {
    if (!parse_number(*words, "populated", size.populated_bytes) && !parse_number(*words, "mappings", size.mappings) &&
        !parse_number(*words, "descriptors", size.descriptors) && !parse_number(*words, "threads", size.threads) &&
        !parse_kind(*words, size.kind)) {
      return *words;
    }
  }
  return nullptr;
}

/// Acquires these resources. Returns nullptr, or the name of the resource that ran short (errno has the reason).
const char* size_up(const TargetSize& size) {
  if (!open_descriptors(size.descriptors)) return "descriptors";
  if (!map_apart(size.mappings)) return "mappings";
  if (!start_threads(size.threads)) return "threads";
  if (!populate(size.populated_bytes, size.kind)) return "memory";
  return nullptr;
}

void say(const char* word) { [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, word, std::strlen(word)); }

[[noreturn]] void give_up(const char* what, const char* why) {
  say(what);
  say(why);
  say("\n");
  std::exit(1);
}

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

struct TimedClone {
  long result;  ///< result of the system call in the parent
  std::uint64_t begin;
  std::uint64_t end;
};

#if defined(__x86_64__)

/// Reads the CPU's time stamp counter after all earlier instructions (Intel SDM volume 2, RDTSC).
std::uint64_t time_stamp() {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
  return high << 32 | low;
}

/// Calls clone(2) on the same stack; the child exits at once. Between the two readings of the counter, neither parent
/// nor child executes a store. The first store after a fork is a copy fault, which must not be included.
TimedClone timed_clone(std::uint64_t flags) {
  TimedClone timed{};
  asm volatile(
      "lfence\n\t"
      "rdtsc\n\t"
      "shlq $32, %%rdx\n\t"
      "orq %%rdx, %%rax\n\t"
      "movq %%rax, %[begin]\n\t"
      "xorl %%esi, %%esi\n\t"
      "xorl %%edx, %%edx\n\t"
      "xorl %%r10d, %%r10d\n\t"
      "xorl %%r8d, %%r8d\n\t"
      "movl $56, %%eax\n\t"  // clone
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%edi, %%edi\n\t"
      "movl $231, %%eax\n\t"  // exit_group
      "syscall\n\t"
      "1:\n\t"
      "movq %%rax, %[result]\n\t"
      "lfence\n\t"
      "rdtsc\n\t"
      "shlq $32, %%rdx\n\t"
      "orq %%rdx, %%rax\n\t"
      : [begin] "=&r"(timed.begin), [result] "=&r"(timed.result), "=&a"(timed.end), "+D"(flags)
      :
      : "rcx", "rdx", "rsi", "r8", "r10", "r11", "cc", "memory");
  return timed;
}

#elif defined(__aarch64__)

/// Reads the virtual counter after all earlier instructions (Arm Architecture Reference Manual, D12.1). The counter
/// runs at 24 MHz to 1 GHz, depending on the machine.
std::uint64_t time_stamp() {
  std::uint64_t ticks = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
}

TimedClone timed_clone(std::uint64_t flags) {
  TimedClone timed{};
  register std::uint64_t argument asm("x0") = flags;
  asm volatile(
      "isb\n\t"
      "mrs %[begin], cntvct_el0\n\t"
      "mov x1, #0\n\t"
      "mov x2, #0\n\t"
      "mov x3, #0\n\t"
      "mov x4, #0\n\t"
      "mov x8, #220\n\t"  // clone
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x8, #94\n\t"  // exit_group
      "svc #0\n\t"
      "1:\n\t"
      "isb\n\t"
      "mrs %[end], cntvct_el0\n\t"
      : [begin] "=&r"(timed.begin), [end] "=&r"(timed.end), "+r"(argument)
      :
      : "x1", "x2", "x3", "x4", "x8", "cc", "memory");
  timed.result = static_cast<long>(argument);
  return timed;
}

#endif

TimedClone timed_spawn() {
  char self[] = "/proc/self/exe";
  char end[] = "end";
  char* const arguments[] = {self, end, nullptr};
  char* const environment[] = {nullptr};
  pid_t pid = -1;
  TimedClone timed{};
  timed.begin = time_stamp();
  const int error = ::posix_spawn(&pid, self, nullptr, nullptr, arguments, environment);
  timed.end = time_stamp();
  timed.result = error == 0 ? pid : -error;
  return timed;
}

/// The kernel refuses these flags at once, because CLONE_SIGHAND requires CLONE_VM.
TimedClone timed_refusal() {
  TimedClone timed = timed_clone(CLONE_SIGHAND | SIGCHLD);
  if (timed.result == -EINVAL) timed.result = 0;
  return timed;
}

TimedClone timed_child(const ForkRun& record) {
  switch (record.method) {
    case ForkMethod::kSpawn:
      return timed_spawn();
    case ForkMethod::kRefused:
      return timed_refusal();
    case ForkMethod::kClone:
      break;
  }
  return timed_clone(record.clone_flags | SIGCHLD);
}

/// Keeps parent and child on one CPU, because the effect of a second CPU would come from the scheduler, not from fork.
void stay_on_this_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

void run(ForkRun& record) {
  record.done = 0;
  record.error = 0;
  const std::int64_t start_ns = monotonic_ns();
  const std::uint64_t start = time_stamp();
  for (std::uint32_t i = 0; i < record.forks && i < kMostForks; ++i) {
    const TimedClone timed = timed_child(record);
    if (timed.result < 0) {
      record.error = static_cast<std::int32_t>(-timed.result);
      break;
    }
    if (timed.result > 0) ::waitpid(static_cast<pid_t>(timed.result), nullptr, 0);
    const std::uint64_t gone = time_stamp();
    record.call_ns[i] = static_cast<double>(timed.end - timed.begin);
    record.gone_ns[i] = static_cast<double>(gone - timed.begin);
    record.done = i + 1;
  }
  record.wall_ns = monotonic_ns() - start_ns;
  const double ns_per_tick = static_cast<double>(record.wall_ns) / static_cast<double>(time_stamp() - start);
  for (std::uint32_t i = 0; i < record.done; ++i) {
    record.call_ns[i] *= ns_per_tick;
    record.gone_ns[i] *= ns_per_tick;
  }
}

}  // namespace
}  // namespace zerotax

int main(int argc, char** argv) {
  using namespace zerotax;
  if (argc == 2 && std::strcmp(argv[1], "end") == 0) ::_exit(0);
  if (argc < 2) give_up("usage: fork-target FD [NAME=NUMBER]… [kind=NAME]", "");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  void* memory =
      ::mmap(nullptr, sizeof(ForkRun), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, std::atoi(argv[1]), 0);
  if (memory == MAP_FAILED) give_up("cannot map its sample block: ", std::strerror(errno));
  auto& record = *static_cast<ForkRun*>(memory);
  if (record.magic != kForkRunMagic) give_up("the sample block comes from another build", "");
  TargetSize size;
  if (const char* word = parse_size(argv + 2, size)) give_up("unknown word: ", word);
  stay_on_this_cpu();
  if (const char* what = size_up(size)) {
    say(what);
    give_up(": ", std::strerror(errno));
  }
  say("ready\n\n");
  char line[64];
  while (::read(STDIN_FILENO, &line[0], sizeof line) > 0) {
    run(record);
    say("done\n");
  }
}

#include "fork/process/size_up.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace zerotax {
namespace {

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

/// What follows NAME= in a word; nullptr if the word does not start so.
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
  const std::uint64_t huge = page * (page / 8);  // as os/page.h
  const int sharing = kind == TargetSize::Kind::kShared ? MAP_SHARED : MAP_PRIVATE;
  void* memory = ::mmap(nullptr, bytes + huge, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  // On a boundary of huge pages and of page tables, whatever is asked for.
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
    if (limit.rlim_max < limit.rlim_cur) limit.rlim_max = limit.rlim_cur;  // permitted to root
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

}  // namespace

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

const char* size_up(const TargetSize& size) {
  if (!open_descriptors(size.descriptors)) return "descriptors";
  if (!map_apart(size.mappings)) return "mappings";
  if (!start_threads(size.threads)) return "threads";
  if (!populate(size.populated_bytes, size.kind)) return "memory";
  return nullptr;
}

}  // namespace zerotax

// Functions of the dynamic linker with which a program finds functions. If a program finds an allocator function
// through a library's handle, it gets the recorder's function instead. The functions dlsym, dlvsym, dlopen and dlmopen
// in loader_*.cc jump to the linker's own functions, which check their caller. This file also watches UFFDIO_COPY of
// ioctl, which supplies pages that the kernel need not zero.
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>

#include "base/size.h"
#include "record/preload/examine.h"
#include "record/preload/modules.h"
#include "record/preload/own_memory.h"
#include "record/preload/process.h"
#include "record/preload/real.h"

namespace zerotax::record {
namespace {

using Find = void* (*)(void* library, const char* symbol);
using FindVersion = void* (*)(void* library, const char* symbol, const char* version);
using Control = int (*)(int fd, unsigned long request, void* argument);

void* next_reallocarray = nullptr;
void* next_syscall = nullptr;

int first_control(int fd, unsigned long request, void* argument);

template <typename Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

/// Returns the recorder's function that replaces `found`, or `found` itself if no function replaces it.
void* ours_for(void* found) {
  if (found == nullptr || process == nullptr) return found;
  const struct {
    void* next;
    void* ours;
  } functions[] = {{address(plain_real.malloc), address(&::malloc)},
                   {address(plain_real.calloc), address(&::calloc)},
                   {address(plain_real.realloc), address(&::realloc)},
                   {address(plain_real.posix_memalign), address(&::posix_memalign)},
                   {address(plain_real.aligned_alloc), address(&::aligned_alloc)},
                   {address(plain_real.memalign), address(&::memalign)},
                   {address(plain_real.valloc), address(&::valloc)},
                   {address(plain_real.pvalloc), address(&::pvalloc)},
                   {address(plain_real.free), address(&::free)},
                   {address(plain_real.memset), address(&::memset)},
                   {address(plain_real.bzero), address(&::bzero)},
                   {address(plain_real.explicit_bzero), address(&::explicit_bzero)},
                   {address(plain_real.wmemset), address(&::wmemset)},
                   {address(plain_real.malloc_trim), address(&::malloc_trim)},
                   {next_reallocarray, address(&::reallocarray)},
                   {next_syscall, address(&::syscall)}};
  for (const auto& function : functions) {
    if (function.next == found) return function.ours;
  }
  return found;
}

/// Before glibc 2.34, dlsym and dlopen are in a separate library, which may be loaded later.
template <typename Function>
void find(const char* symbol, Function& function) {
  void* found = find_next(symbol);
  if (found == nullptr) found = find_in("libdl.so.2", symbol);
  if (found != nullptr) function = reinterpret_cast<Function>(found);
}

void* find_nothing() { return nullptr; }
void* find_no_symbol(void* /*library*/, const char* /*symbol*/) { return nullptr; }
void* find_no_version(void* /*library*/, const char* /*symbol*/, const char* /*version*/) { return nullptr; }

}  // namespace
}  // namespace zerotax::record

extern "C" {

[[gnu::visibility("hidden"), gnu::used]] zerotax::record::Find zerotax_real_dlsym = nullptr;
[[gnu::visibility("hidden"), gnu::used]] zerotax::record::FindVersion zerotax_real_dlvsym = nullptr;
[[gnu::visibility("hidden"), gnu::used]] void* (*zerotax_real_dlopen)() = nullptr;
[[gnu::visibility("hidden"), gnu::used]] void* (*zerotax_real_dlmopen)() = nullptr;
[[gnu::visibility("hidden"), gnu::used]] zerotax::record::Control zerotax_real_ioctl = zerotax::record::first_control;

[[gnu::visibility("hidden"), gnu::used]] void zerotax_find_loader() {
  using namespace zerotax::record;
  zerotax_real_dlsym = find_no_symbol;
  zerotax_real_dlvsym = find_no_version;
  zerotax_real_dlopen = zerotax_real_dlmopen = find_nothing;
  next_reallocarray = find_next("reallocarray");
  next_syscall = find_next("syscall");
  find("dlvsym", zerotax_real_dlvsym);
  find("dlopen", zerotax_real_dlopen);
  find("dlmopen", zerotax_real_dlmopen);
  find("dlsym", zerotax_real_dlsym);
}

[[gnu::visibility("hidden"), gnu::used]] void* zerotax_watched_dlsym(void* library, const char* symbol) {
  return zerotax::record::ours_for(zerotax_real_dlsym(library, symbol));
}

[[gnu::visibility("hidden"), gnu::used]] void* zerotax_watched_dlvsym(void* library, const char* symbol,
                                                                      const char* version) {
  return zerotax::record::ours_for(zerotax_real_dlvsym(library, symbol, version));
}

[[gnu::visibility("hidden"), gnu::used]] void zerotax_note_own_scope() {
  zerotax::record::note_gap(zerotax::record::kOwnScope);
}

[[gnu::visibility("hidden"), gnu::used]] int zerotax_watched_ioctl(int fd, unsigned long request, void* argument) {
  using namespace zerotax::record;
  // The layout of uffdio_copy in linux/userfaultfd.h.
  struct {
    std::uint64_t to, from, bytes, mode;
    std::int64_t copied;
  } copy{};
  if (process == nullptr || guard.alive == 0 ||
      !read_own(reinterpret_cast<std::uintptr_t>(argument), &copy, sizeof copy))
    return zerotax_real_ioctl(fd, request, argument);
  const zerotax::AddressRange range{copy.to, copy.to + copy.bytes};
  const OwnWork own;
  const std::uint64_t before = anonymous_in(range).bytes;
  const int status = zerotax_real_ioctl(fd, request, argument);
  const int failure = errno;
  process->holdings.copied_in_bytes += zerotax::less(anonymous_in(range).bytes, before);
  errno = failure;
  return status;
}
}

namespace zerotax::record {
namespace {

int first_control(int fd, unsigned long request, void* argument) {
  find("ioctl", zerotax_real_ioctl);
  return zerotax_real_ioctl(fd, request, argument);
}

}  // namespace
}  // namespace zerotax::record

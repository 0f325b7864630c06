#include "meter/zeroing_hook.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <strings.h>

#include <cstring>
#include <cwchar>
#include <string_view>

#include "os/got_hook.h"

namespace zerotax {
namespace {

constexpr const char* kOurs[] = {"clock_gettime", "getrusage", "ioctl",    "open",    "read",  "pread", "close",
                                 "stat",          "mincore",   "mprotect", "syscall", "prctl", "uname"};

/// Whether a function belongs to the C library, or to a sanitizer's library within the probe.
bool is_real(const void* function) {
  Dl_info object{};
  Dl_info own{};
  if (::dladdr(function, &object) == 0 || object.dli_fname == nullptr) return true;
  if (::dladdr(reinterpret_cast<const void*>(&use_real_functions), &own) != 0 && own.dli_fbase == object.dli_fbase) {
    return true;
  }
  const std::string_view path(object.dli_fname);
  return path.substr(path.rfind('/') + 1) == LIBC_SO;
}

}  // namespace

void use_real_functions() {
  void* library = nullptr;
  for (const char* name : kOurs) {
    void* found = ::dlsym(RTLD_DEFAULT, name);
    if (found == nullptr || is_real(found)) continue;
    if (library == nullptr) library = ::dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
    void* real = library != nullptr ? ::dlsym(library, name) : nullptr;
    if (real == nullptr) continue;
    const GotReplacement replacement{name, found, real};
    replace_got_slots(&replacement, 1, reinterpret_cast<const void*>(&use_real_functions));
  }
}

namespace {

using Memset = void* (*)(void*, int, std::size_t);
using MemsetChecked = void* (*)(void*, int, std::size_t, std::size_t);
using Bzero = void (*)(void*, std::size_t);
using BzeroChecked = void (*)(void*, std::size_t, std::size_t);
using Wmemset = wchar_t* (*)(wchar_t*, wchar_t, std::size_t);

Memset real_memset = nullptr;
MemsetChecked real_memset_checked = nullptr;
Bzero real_bzero = nullptr;
Bzero real_explicit_bzero = nullptr;
BzeroChecked real_explicit_bzero_checked = nullptr;
Wmemset real_wmemset = nullptr;

// With initial-exec, accessing a thread-local of the executable never allocates, not even the first time.
[[gnu::tls_model("initial-exec")]] thread_local ZeroingHook::Listener* current = nullptr;

/// Notifies the listener of a store of zeros by `store`. Listening is off meanwhile, so that the listener's own stores
/// go unseen.
template <typename Store>
void observed(bool zeros, void* target, std::size_t bytes, Store store) {
  ZeroingHook::Listener* listener = zeros && bytes > 0 ? current : nullptr;
  if (listener == nullptr) {
    store();
    return;
  }
  current = nullptr;
  listener->before_zeroing(target, bytes);
  store();
  listener->after_zeroing(target, bytes);
  current = listener;
}

void* hook_memset(void* target, int value, std::size_t bytes) {
  observed((value & 0xff) == 0, target, bytes, [&] { real_memset(target, value, bytes); });
  return target;
}

void* hook_memset_checked(void* target, int value, std::size_t bytes, std::size_t room) {
  observed((value & 0xff) == 0, target, bytes, [&] { real_memset_checked(target, value, bytes, room); });
  return target;
}

void hook_bzero(void* target, std::size_t bytes) {
  observed(true, target, bytes, [&] { real_bzero(target, bytes); });
}

void hook_explicit_bzero(void* target, std::size_t bytes) {
  observed(true, target, bytes, [&] { real_explicit_bzero(target, bytes); });
}

void hook_explicit_bzero_checked(void* target, std::size_t bytes, std::size_t room) {
  observed(true, target, bytes, [&] { real_explicit_bzero_checked(target, bytes, room); });
}

wchar_t* hook_wmemset(wchar_t* target, wchar_t value, std::size_t count) {
  observed(value == 0, target, count * sizeof(wchar_t), [&] { real_wmemset(target, value, count); });
  return target;
}

}  // namespace

std::size_t ZeroingHook::install() {
  GotReplacements<6> replacements;
  replacements.add("memset", real_memset, &hook_memset);
  replacements.add("__memset_chk", real_memset_checked, &hook_memset_checked);
  replacements.add("bzero", real_bzero, &hook_bzero);
  replacements.add("explicit_bzero", real_explicit_bzero, &hook_explicit_bzero);
  replacements.add("__explicit_bzero_chk", real_explicit_bzero_checked, &hook_explicit_bzero_checked);
  replacements.add("wmemset", real_wmemset, &hook_wmemset);
  return replacements.apply();
}

void ZeroingHook::listen(Listener* listener) { current = listener; }

}  // namespace zerotax

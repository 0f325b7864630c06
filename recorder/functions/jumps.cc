#include <dlfcn.h>

#include <csetjmp>

#include "functions/events.h"
#include "functions/jump_target.h"

// A longjmp leaves functions without calling their exit hooks. The jump's stack pointer tells the reader which
// functions were left.

namespace {

using Jump = void (*)(__jmp_buf_tag*, int);

[[noreturn]] void jump(Jump& real, const char* name, __jmp_buf_tag* buffer, int value) {
  zerotax::record(function_jump{.stack = zerotax::functions::stack_of(buffer)});
  if (real == nullptr) real = reinterpret_cast<Jump>(::dlsym(RTLD_NEXT, name));
  real(buffer, value);
  __builtin_unreachable();
}

Jump real_longjmp = nullptr;
Jump real_underscore = nullptr;
Jump real_siglongjmp = nullptr;
Jump real_checked = nullptr;

/// Looks up the C library's functions early, because a signal handler may call longjmp, but must not call dlsym.
[[gnu::constructor]] void find() {
  real_longjmp = reinterpret_cast<Jump>(::dlsym(RTLD_NEXT, "longjmp"));
  real_underscore = reinterpret_cast<Jump>(::dlsym(RTLD_NEXT, "_longjmp"));
  real_siglongjmp = reinterpret_cast<Jump>(::dlsym(RTLD_NEXT, "siglongjmp"));
  real_checked = reinterpret_cast<Jump>(::dlsym(RTLD_NEXT, "__longjmp_chk"));
}

}  // namespace

extern "C" {

ZEROTAX_PUBLIC_ void longjmp(__jmp_buf_tag* buffer, int value) noexcept {
  jump(real_longjmp, "longjmp", buffer, value);
}

ZEROTAX_PUBLIC_ void _longjmp(__jmp_buf_tag* buffer, int value) noexcept {
  jump(real_underscore, "_longjmp", buffer, value);
}

ZEROTAX_PUBLIC_ void siglongjmp(__jmp_buf_tag* buffer, int value) noexcept {
  jump(real_siglongjmp, "siglongjmp", buffer, value);
}

ZEROTAX_PUBLIC_ void __longjmp_chk(__jmp_buf_tag* buffer, int value) noexcept {
  jump(real_checked, "__longjmp_chk", buffer, value);
}

}  // extern "C"

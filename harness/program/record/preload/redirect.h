#pragma once

#include <cstddef>

#include "os/page.h"

namespace zerotax::record {

/// Pages of code that may be written to while it lives. To write to the same pages again asks the kernel nothing.
class OpenCode {
 public:
  OpenCode() = default;
  OpenCode(const OpenCode&) = delete;
  OpenCode& operator=(const OpenCode&) = delete;
  ~OpenCode() { close(); }

  /// Writes `count` bytes to `code`; returns false if that is not allowed.
  bool write(unsigned char* code, const unsigned char* bytes, std::size_t count);

 private:
  bool make_writable(AddressRange pages);
  bool close();

  AddressRange pages_{};
};

/// Sends every call of a function of the C library to another function, the library's own internal calls included,
/// which no preloaded function and no table of addresses stands in: the first instructions become a jump.
/// For use before the program's own threads run. While it lives, code that it changed last may be written to.
class Redirector {
 public:
  /// Sets `way` to the way to the original, before the first call can come. Returns false if it cannot be done: other
  /// instructions than those known at the start of `function`, too far away (2 GiB on x86-64, 128 MiB on arm64), or
  /// code that may not be written to. Each function at most once.
  bool redirect(void* function, void* replacement, void** way);
  /// The same for a function that never returns, and is needed no more: whatever instructions it begins with.
  bool replace(void* function, void* replacement);

 private:
  OpenCode ways_;
  OpenCode functions_;
};

/// Bytes at the start of `code` that a jump and what is moved for it take; 0 if they are
/// not among the known ways in which a C library's wrapper of a system call begins. Reads at most 16 bytes.
std::size_t movable_prologue(const unsigned char* code);

}  // namespace zerotax::record

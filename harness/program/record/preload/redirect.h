#pragma once

#include <cstddef>

#include "os/page.h"

namespace zerotax::record {

/// Pages of code that are writable while an object of this class lives. Further writes to the same pages take no system
/// call.
class OpenCode {
 public:
  OpenCode() = default;
  OpenCode(const OpenCode&) = delete;
  OpenCode& operator=(const OpenCode&) = delete;
  ~OpenCode() { close(); }

  /// Writes `count` bytes to `code`. Returns false if writing is not permitted.
  bool write(unsigned char* code, const unsigned char* bytes, std::size_t count);

 private:
  bool make_writable(AddressRange pages);
  bool close();

  AddressRange pages_{};
};

/// Redirects every call to a function of the C library to another function, by a jump in place of the function's first
/// instructions. This includes the C library's internal calls, which neither preloaded functions nor tables of
/// addresses affect. Use this class before the program's own threads run. While the object lives, the code that was
/// changed last is writable.
class Redirector {
 public:
  /// Redirects a function, at most once. Sets `way` to code that continues in the original function, before the first
  /// call can come. Returns false if the instructions at the start of `function` are unknown, if the code may not be
  /// written, or if the distance is too large (2 GiB on x86-64, 128 MiB on arm64).
  bool redirect(void* function, void* replacement, void** way);
  /// Redirects a function that never returns, and whose original is no longer needed. The function may begin with any
  /// instructions.
  bool replace(void* function, void* replacement);

 private:
  OpenCode ways_;
  OpenCode functions_;
};

/// Returns the number of bytes at the start of `code` that must be moved for a jump. Returns 0 if these bytes are not a
/// known beginning of the C library's wrappers of system calls. Reads at most 16 bytes.
std::size_t movable_prologue(const unsigned char* code);

}  // namespace zerotax::record

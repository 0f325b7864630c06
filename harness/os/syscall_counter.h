#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax {

/// Counts the system calls of one thread, by number, between begin() and end(): syscall user dispatch (Linux >= 5.11)
/// sends each as SIGSYS to a handler that counts it and carries it out. In process and unprivileged; one per process.
/// Source: Documentation/admin-guide/syscall-user-dispatch.rst.
class SyscallCounter {
 public:
  static constexpr std::size_t kNumbers = 512;

  /// Installs the handler for the calling thread. Returns nullptr, or why system calls cannot be counted here.
  static const char* install();

  /// Counting on, from zero.
  static void begin();
  /// Counting off; the figures stay until the next begin().
  static void end();

  /// Calls of one system call since begin().
  static std::uint32_t calls(std::size_t number);
  /// Whether a thread or process was started since begin(): nothing was counted from then on.
  static bool incomplete();
  /// Whether the kernel was asked to populate pages (MAP_POPULATE, MADV_POPULATE_*, mlock): pages that appeared are
  /// then no proof of a store.
  static bool populate_requested();

  /// While one lives, system calls of this thread are neither counted nor delayed: for the meter's own.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    char saved_;
  };
};

/// The name of an x86-64 system call, or nullptr if there is none of this number.
const char* syscall_name(std::size_t number);

}  // namespace zerotax

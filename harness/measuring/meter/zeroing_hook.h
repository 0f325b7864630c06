#pragma once

#include <cstddef>

namespace zerotax {

/// The clocks, counters and files that a probe reads are the C library's, whatever the preloaded library exports under
/// the same names: the probe's own slots for them are set to the C library's functions. To be called once, before
/// anything is measured; does nothing, and allocates nothing, where no name has been taken.
void use_real_functions();

/// Sees every call of memset and its kin that writes zeros, through the GOT slots of all loaded objects, while a
/// listener is set. Stores that the compiler wrote in line are not seen (audit.h finds those by their pages).
class ZeroingHook {
 public:
  /// Called for each store of zeros, on the listening thread only, around the real one.
  class Listener {
   public:
    virtual void before_zeroing(void* target, std::size_t bytes) = 0;
    virtual void after_zeroing(void* target, std::size_t bytes) = 0;

   protected:
    ~Listener() = default;
  };

  /// Replaces the slots; once per process. Returns how many there were: 0 means that nothing will be seen.
  static std::size_t install();

  /// The listener of the calling thread; nullptr: none.
  static void listen(Listener* listener);
};

}  // namespace zerotax

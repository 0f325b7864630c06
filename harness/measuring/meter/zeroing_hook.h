#pragma once

#include <cstddef>

namespace zerotax {

/// Makes the probe use the C library's clocks, counters and files, even if the preloaded library exports functions of
/// the same names. Sets the probe's own slots to the C library's functions. Call this function once, before any
/// measurement. Has no effect, and allocates nothing, if the preloaded library exports none of these names.
void use_real_functions();

/// Sees every call to memset and its variants that stores zeros, through the GOT slots of all loaded objects, while a
/// listener is set. Stores that the compiler inlined are not seen (audit.h finds them by their pages).
class ZeroingHook {
 public:
  /// Called before and after each store of zeros, on the listening thread only.
  class Listener {
   public:
    virtual void before_zeroing(void* target, std::size_t bytes) = 0;
    virtual void after_zeroing(void* target, std::size_t bytes) = 0;

   protected:
    ~Listener() = default;
  };

  /// Replaces the slots, once per process. Returns the number of slots. With 0 slots, no store will be seen.
  static std::size_t install();

  /// Sets the listener of the calling thread, or nullptr for none.
  static void listen(Listener* listener);
};

}  // namespace zerotax

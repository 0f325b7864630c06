#pragma once

#include <string>
#include <vector>

#include "run/machine/place.h"

namespace zerotax::machine {

/// A kernel to boot.
struct GuestKernel {
  std::string image;                 ///< path
  std::vector<std::string> modules;  ///< paths: what leads to the host's files, where it is not built in
  std::string name;                  ///< "6.1.0-50-amd64"
};

/// The kernel of a place. That of a release is fetched from Debian once, with apt-get, which checks signatures, into
/// zerotax's cache. Throws UsageError for a path at which there is none; MachineError if it cannot be fetched: nothing
/// is left behind then.
GuestKernel find_kernel(const MachinePlace& place);

}  // namespace zerotax::machine

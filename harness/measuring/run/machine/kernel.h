#pragma once

#include <string>
#include <vector>

#include "run/machine/place.h"

namespace zerotax::machine {

/// A kernel to boot.
struct GuestKernel {
  std::string image;                 ///< path of the image
  std::vector<std::string> modules;  ///< paths of the modules needed to reach the host's files, unless built in
  std::string name;                  ///< version such as "6.1.0-50-amd64"
};

/// Returns the kernel for a place. The kernel of a release is fetched once from Debian into zerotax's cache, by
/// apt-get, which checks signatures. Throws UsageError if there is no kernel at a path. Throws MachineError if the
/// kernel cannot be fetched, without leaving files.
GuestKernel find_kernel(const MachinePlace& place);

}  // namespace zerotax::machine

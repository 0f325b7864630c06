#pragma once

#include <thread>
#include <vector>

#include "os/load.h"

namespace zerotax {

/// While it exists, this machine is as busy as others make it: threads that only count. They take no signals.
class BusyCpus {
 public:
  /// Two threads for each CPU that this process may use, if nothing else is said.
  explicit BusyCpus(std::size_t threads = 2 * allowed_cpus());

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace zerotax

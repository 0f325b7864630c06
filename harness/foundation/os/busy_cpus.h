#pragma once

#include <thread>
#include <vector>

#include "os/load.h"

namespace zerotax {

/// Keeps this machine busy while the object exists, by threads that only count. The threads take no signals.
class BusyCpus {
 public:
  /// By default, two threads for each CPU that this process may use.
  explicit BusyCpus(std::size_t threads = 2 * allowed_cpus());

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace zerotax

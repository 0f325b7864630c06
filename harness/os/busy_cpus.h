#pragma once

#include <thread>
#include <vector>

namespace zerotax {

/// While it exists, this machine is as busy as others make it: two threads that only count for each CPU that this
/// process may use. They take no signals.
class BusyCpus {
 public:
  BusyCpus();

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace zerotax

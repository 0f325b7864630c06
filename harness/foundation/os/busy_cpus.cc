#include "os/busy_cpus.h"

#include <pthread.h>

#include <csignal>
#include <stop_token>

namespace zerotax {

BusyCpus::BusyCpus(std::size_t threads) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
      }
    });
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace zerotax

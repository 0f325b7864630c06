#pragma once

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask

#include <ctime>

namespace zerotax::recorder {

/// Blocks all signals and the thread's cancellation. Thus no signal handler that records can interrupt the scope, and
/// the thread is not canceled while it holds a lock. A write beyond RLIMIT_FSIZE by the recorder may send SIGXFSZ to
/// this thread. The signal is consumed, so that the program continues.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_before_);
  }
  ~SignalBlock() {
    sigset_t pending;
    if (::sigismember(&before_, SIGXFSZ) == 0 && ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1) {
      sigset_t one;
      ::sigemptyset(&one);
      ::sigaddset(&one, SIGXFSZ);
      const timespec now{};
      ::sigtimedwait(&one, nullptr, &now);
    }
    ::pthread_setcancelstate(cancel_before_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_{};
  int cancel_before_ = 0;
};

/// A lock that is only held while signals are blocked, so that no handler waits for the thread that it interrupted.
class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { ::pthread_mutex_lock(&mutex_); }
  ~Locked() { ::pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SignalBlock block_;
  pthread_mutex_t& mutex_;
};

}  // namespace zerotax::recorder

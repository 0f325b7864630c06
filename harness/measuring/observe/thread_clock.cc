#include "observe/thread_clock.h"

namespace zerotax {
namespace {

ThreadTimes between(const ThreadTimes& first, const ThreadTimes& last) {
  return {last.user_ns - first.user_ns, last.system_ns - first.system_ns, last.faults - first.faults};
}

}  // namespace

void ThreadClock::begin(pid_t process) {
  for (const pid_t thread : process_threads(process)) {
    const auto times = thread_times(process, thread);
    if (times) threads_[{static_cast<std::uint32_t>(process), static_cast<std::uint32_t>(thread)}] = {*times, *times};
  }
}

void ThreadClock::look(pid_t process) {
  for (const pid_t thread : process_threads(process)) {
    const auto times = thread_times(process, thread);
    if (times) threads_[{static_cast<std::uint32_t>(process), static_cast<std::uint32_t>(thread)}].last = *times;
  }
}

ThreadTimes ThreadClock::used(const ThreadId& thread) const {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? ThreadTimes{} : between(found->second.first, found->second.last);
}

std::map<ThreadClock::ThreadId, ThreadTimes> ThreadClock::used() const {
  std::map<ThreadId, ThreadTimes> all;
  for (const auto& [thread, watched] : threads_) all[thread] = between(watched.first, watched.last);
  return all;
}

}  // namespace zerotax

#include "snapshot/process/course.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/process_pagemap.h"
#include "snapshot/process/checkpointers.h"

namespace snapshot {
namespace {

FaultCount count_faults() {
  zerotax::monotonic_ns();  // its first call takes faults, which would be counted, and come before the time
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {usage.ru_minflt + usage.ru_majflt, zerotax::monotonic_ns()};
}

/// Pages of the array that this process alone maps.
std::uint64_t exclusive_pages(const Job& job) {
  zerotax::ProcessPagemaps pagemaps;
  std::uint64_t found = 0;
  pagemaps.for_each(::getpid(), job.array.pages(),
                    [&](std::uint64_t, zerotax::PagemapEntry entry) { found += entry.exclusive() ? 1 : 0; });
  return found;
}

/// Whether there was a child, and it ended.
bool child_has_ended(const Job& job) {
  const pid_t child = job.control->child;
  siginfo_t info{};
  return child != 0 && ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

void finish(Alternative& alternative, Job& job, Course& course) {
  alternative.finish(job);
  course.gone_ns = zerotax::monotonic_ns();
  if (job.parameters.pagemap && job.control->child != 0) course.exclusive_pages = exclusive_pages(job);
  alternative.after_end(job);
  course.remedied_ns = zerotax::monotonic_ns();
}

}  // namespace

Course run_course(Alternative& alternative, Job& job, Writers& writers) {
  Course course;
  const double hold = alternative.facts.takes_snapshot ? job.parameters.hold : -1;
  const bool first = alternative.facts.begins_first;
  if (!first) {
    writers.start();
    writers.wait_for_stop();
  }
  course.before = count_faults();
  course.stopped_ns = zerotax::monotonic_ns();
  alternative.begin(job);
  course.released_ns = zerotax::monotonic_ns();
  if (hold >= 1) {
    finish(alternative, job, course);
  } else if (hold > 0) {
    wait_until([&] { return job.control->batches_done >= job.parameters.held_batches() || child_has_ended(job); });
    alternative.held(job);
  }
  course.went_on_ns = hold < 0 ? course.released_ns : zerotax::monotonic_ns();
  if (first) {
    writers.start();
  } else {
    writers.go_on();
  }
  if (hold < 1) finish(alternative, job, course);
  writers.join();
  course.after = count_faults();
  return course;
}

}  // namespace snapshot

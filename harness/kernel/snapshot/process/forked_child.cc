#include "snapshot/process/forked_child.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "os/clock.h"
#include "snapshot/process/copying.h"
#include "snapshot/process/samplers.h"
#include "snapshot/process/writers.h"

namespace zerotax::snapshot {

void Helper::start(std::function<std::uint64_t()> work) {
  thread_ = std::thread([this, work = std::move(work)] {
    ::prctl(PR_SET_NAME, "helper");
    tid_ = ::gettid();
    begin_ns_ = monotonic_ns();
    failed_bytes_ = work();
    end_ns_ = monotonic_ns();
    usage_ = thread_usage();
    bulk_faults_ = faults_of_populating();
  });
}

void Helper::add_to(RunMetrics& metrics) const {
  metrics.helper_tid = tid_;
  metrics.helper_begin_ns = begin_ns_;
  metrics.helper_end_ns = end_ns_;
  metrics.helper_user_ns = usage_.user_ns;
  metrics.helper_system_ns = usage_.kernel_ns;
  metrics.helper_faults = usage_.minor_faults;
  metrics.helper_bulk_faults = bulk_faults_;
  metrics.helper_failed_bytes = static_cast<std::int64_t>(failed_bytes_);
}

void Helper::join() {
  if (thread_.joinable()) thread_.join();
}

void ForkedChild::begin(Job& job) {
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid == 0) be_child(job);
  job.control->child = pid;
}

void ForkedChild::be_child(const Job& job) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "checkpointer");
  Checkpointers(job, [&](Batch batch) {
    copy(job, batch);
    after_batch(job, batch);
  }).join();
  if (job.parameters.memory) wait_for_sample(job.control->memory_samples);
  before_exit(job);
  ::_exit(0);
}

void ForkedChild::copy(const Job& job, Batch batch) {
  // Maps the pages, which exist but are not in the child's page tables. One call (since Linux 5.14) replaces a fault
  // for each page; without the call, each page takes a fault.
  populate_for_writing(job.copy + batch.offset, batch.bytes);
  copy_bytes(job, batch);
}

bool ForkedChild::unmap(const Job& job, Batch batch) {
  if (::munmap(job.at(batch.offset), batch.bytes) == 0) {
    ++job.control->unmapped;
    return true;
  }
  job.control->unmap_error = errno;
  return false;
}

void ForkedChild::check_unseen(const Job& job) {
  if (!job.parameters.memory) return;
  RunMetrics found;
  verify(job, std::vector<Position>(job.parameters.writers), found);
  job.control->checked = static_cast<std::uint64_t>(found.checked_elements);
  job.control->wrong = static_cast<std::uint64_t>(found.wrong_elements);
  job.control->first_wrong = static_cast<std::uint64_t>(found.first_wrong);
}

void ForkedChild::finish(Job& job) {
  int status = 0;
  rusage usage{};
  while (::wait4(job.control->child, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw std::runtime_error("the child could not be waited for");
  }
  job.control->child_user_ns = in_ns(usage.ru_utime);
  job.control->child_system_ns = in_ns(usage.ru_stime);
  if (status == 0) return;
  throw std::runtime_error(WIFSIGNALED(status)
                               ? std::string("the child was killed by SIG") + ::sigabbrev_np(WTERMSIG(status))
                               : "the child exited with status " + std::to_string(WEXITSTATUS(status)));
}

void RemediedChild::after_end(Job& job) {
  helper_.start([this, &job] { return make_writable(job); });
  helper_.join();
}

}  // namespace zerotax::snapshot

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

#include "memory_sampler.h"
#include "os/clock.h"
#include "snapshot/process/populate.h"

namespace snapshot {
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
  // The pages are there, but not in the child's page tables: in one call rather than by a fault each (Linux 5.14; where
  // there is no such call, by a fault each).
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

void ForkedChild::finish(Job& job) {
  int status = 0;
  rusage usage{};
  while (::wait4(job.control->child, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw std::runtime_error("the child was not there to be waited for");
  }
  job.control->child_user_ns = zerotax::in_ns(usage.ru_utime);
  job.control->child_system_ns = zerotax::in_ns(usage.ru_stime);
  if (status == 0) return;
  throw std::runtime_error(WIFSIGNALED(status)
                               ? std::string("the child was killed by SIG") + ::sigabbrev_np(WTERMSIG(status))
                               : "the child exited with status " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace snapshot

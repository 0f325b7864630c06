#include "forked_child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "remedied_child.h"

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
    // The pages are there, but not in the child's page tables: in one call rather than by a fault each (Linux 5.14;
    // where there is no such call, by a fault each).
    populate_for_writing(job.copy + batch.offset, batch.bytes);
    copy_bytes(job, batch);
    after_batch(job, batch);
  }).join();
  ::_exit(0);
}

void ForkedChild::finish(Job& job) {
  int status = 0;
  while (::waitpid(job.control->child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("the child was not there to be waited for");
  }
  if (status == 0) return;
  throw std::runtime_error(WIFSIGNALED(status)
                               ? std::string("the child was killed by SIG") + ::sigabbrev_np(WTERMSIG(status))
                               : "the child exited with status " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace snapshot

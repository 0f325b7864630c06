#include "snapshot/process/helper.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <utility>

#include "os/clock.h"
#include "snapshot/process/populate.h"

namespace snapshot {

void Helper::start(std::function<std::uint64_t()> work) {
  thread_ = std::thread([this, work = std::move(work)] {
    ::prctl(PR_SET_NAME, "helper");
    tid_ = ::gettid();
    begin_ns_ = zerotax::monotonic_ns();
    failed_bytes_ = work();
    end_ns_ = zerotax::monotonic_ns();
    usage_ = zerotax::thread_usage();
    bulk_faults_ = faults_of_populating();
  });
}

void Helper::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace snapshot

#include "snapshot/process/remedied_child.h"

namespace snapshot {

void RemediedChild::after_end(Job& job) {
  helper_.start([this, &job] { return make_writable(job); });
  helper_.join();
}

}  // namespace snapshot

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>

#include "os/unique_fd.h"
#include "snapshot/process/forked_child.h"
#include "snapshot/process/populate.h"

namespace snapshot {
namespace {

/// Like fork_munmap, but the child reports each batch as soon as it has unmapped it. A helper thread of the parent then
/// makes the batch writable at once, so that later writers neither copy nor fault.
class MunmapPopulate final : public ForkedChild {
 public:
  [[nodiscard]] std::string why_not() const override { return why_no_populating(); }
  [[nodiscard]] const Helper* helper() const override { return &helper_; }

  void begin(Job& job) override {
    int ends[2];
    if (::pipe2(&ends[0], O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    from_child_ = zerotax::UniqueFd(ends[0]);
    to_parent_ = zerotax::UniqueFd(ends[1]);
    ForkedChild::begin(job);
    to_parent_.reset();  // so that the child's end ends the helper, too
    helper_.start([this, &job] { return follow(job); });
  }

  void held(Job& job) override {
    wait_until([&] { return ended_ || followed_ >= job.parameters.held_batches(); });
  }

  void after_end(Job&) override { helper_.join(); }

 private:
  void after_batch(const Job& job, Batch batch) override {
    if (!unmap(job, batch)) return;
    // Shorter than PIPE_BUF: messages of several threads do not mix (pipe(7)).
    while (::write(to_parent_.get(), &batch, sizeof batch) < 0 && errno == EINTR) {
    }
  }

  std::uint64_t follow(const Job& job) {
    std::uint64_t failed = 0;
    Batch batch{};
    while (true) {
      const ssize_t got = ::read(from_child_.get(), &batch, sizeof batch);
      if (got < 0 && errno == EINTR) continue;
      if (got != static_cast<ssize_t>(sizeof batch)) break;
      if (!populate_for_writing(job.at(batch.offset), batch.bytes)) failed += batch.bytes;
      ++followed_;
    }
    ended_ = true;
    return failed;
  }

  zerotax::UniqueFd from_child_;
  zerotax::UniqueFd to_parent_;
  Helper helper_;
  std::atomic<std::uint64_t> followed_ = 0;
  std::atomic<bool> ended_ = false;
};

const Registration<MunmapPopulate> registration(
    "munmap_populate", "fork_munmap; a helper thread makes each batch writable as soon as the child unmapped it", {},
    Kind::kRemedy, "fork_munmap");

}  // namespace
}  // namespace snapshot

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "snapshot/process/populate.h"
#include "snapshot/process/remedied_child.h"

namespace snapshot {
namespace {

constexpr int kMore = PROT_READ | PROT_WRITE | PROT_EXEC;
constexpr int kUsual = PROT_READ | PROT_WRITE;

/// A change of protection lets the kernel make pages writable that it knows to be this process's alone
/// (can_change_pte_writable(), mm/mprotect.c). fork takes that knowledge away, and only a write fault brings it back:
/// so this is expected to do nothing. Never read-only, because the writers are running.
class ForkMprotect final : public RemediedChild {
 public:
  [[nodiscard]] std::string why_not() const override {
    return why_not_on_memory(zerotax::page_bytes(), "mprotect",
                             [](void* page) { return ::mprotect(page, zerotax::page_bytes(), kMore) == 0; });
  }

 private:
  std::uint64_t make_writable(const Job& job) override {
    const bool changed =
        ::mprotect(job.at(0), job.array.bytes(), kMore) == 0 && ::mprotect(job.at(0), job.array.bytes(), kUsual) == 0;
    return changed ? 0 : job.array.bytes();
  }
};

const Registration<ForkMprotect> registration(
    "fork_mprotect", "fork; after the child's end a helper thread changes the array's protection, and back", {},
    Kind::kRemedy, "fork");

}  // namespace
}  // namespace snapshot

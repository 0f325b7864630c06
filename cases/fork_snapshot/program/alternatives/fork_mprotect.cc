#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "remedied_child.h"

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
    void* page = ::mmap(nullptr, zerotax::kPageBytes, kUsual, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return std::string("mmap: ") + std::strerror(errno);
    std::string why;
    if (::mprotect(page, zerotax::kPageBytes, kMore) != 0) why = std::string("mprotect: ") + std::strerror(errno);
    ::munmap(page, zerotax::kPageBytes);
    return why;
  }

 private:
  std::uint64_t make_writable(const Job& job) override {
    const bool changed =
        ::mprotect(job.at(0), job.array.bytes(), kMore) == 0 && ::mprotect(job.at(0), job.array.bytes(), kUsual) == 0;
    return changed ? 0 : job.array.bytes();
  }
};

const Registration registration(
    "fork_mprotect", "fork; after the child's end a helper thread changes the array's protection, and back",
    [] { return std::make_unique<ForkMprotect>(); }, Registration::Kind::kRemedy, "fork");

}  // namespace
}  // namespace snapshot

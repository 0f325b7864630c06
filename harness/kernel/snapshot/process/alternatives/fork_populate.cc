#include "snapshot/process/populate.h"
#include "snapshot/process/remedied_child.h"

namespace snapshot {
namespace {

/// One call for the whole array: the kernel walks it once, without an exception for each page.
class ForkPopulate final : public RemediedChild {
 public:
  [[nodiscard]] std::string why_not() const override { return why_no_populating(); }

 private:
  std::uint64_t make_writable(const Job& job) override {
    return populate_for_writing(job.at(0), job.array.bytes()) ? 0 : job.array.bytes();
  }
};

const Registration<ForkPopulate> registration(
    "fork_populate", "fork; after the child's end a helper thread makes the array writable (MADV_POPULATE_WRITE)", {},
    Kind::kPublic, "fork");

}  // namespace
}  // namespace snapshot

#include "run/receive_points.h"

#include <filesystem>
#include <vector>

#include "base/size.h"
#include "run/allocators.h"
#include "run/make_plan.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kMB = 1'000'000;

void add(Plan& plan, const std::vector<std::string>& cases, const std::vector<std::uint64_t>& sizes) {
  for (const std::uint64_t size : sizes) add_points(plan, {cases, {size}, {0.0}, {"main"}}, receive_repeats(size));
}

}  // namespace

Repeats receive_repeats(std::uint64_t size_bytes) {
  // No known allocator changes behaviour after its fifth call: the loop without meters begins with the sixth.
  if (size_bytes <= 16 * kMiB) return {8, 8, 8, 8, 0};
  return size_bytes <= 256 * kMiB ? Repeats{5, 5, 3, 1, 0} : Repeats{5, 5, 2, 1, 0};
}

void add_receive_points(Plan& plan, bool full) {
  std::error_code failure;
  if (!std::filesystem::exists(helper_program("recv-server"), failure)) return;
  if (!full) {
    // 100 MB is the report of 2016; 128 MiB is beyond what largecache keeps, and quick to zero beside a gigabyte.
    add(plan, {"recv_buffer"}, {100 * kMB, 128 * kMiB});
    return;
  }
  std::vector<std::uint64_t> sizes{100 * kMB, 1000 * kMiB};
  for (std::uint64_t size = 16 * kKiB; size <= kGiB; size *= 2) sizes.push_back(size);
  add(plan, {"recv_buffer", "recv_buffer_tcp"}, sizes);
}

}  // namespace zerotax

#include "point/audited_operations.h"

#include <algorithm>

#include "base/size.h"

namespace zerotax {

std::uint32_t audited_operations(std::uint32_t ops, std::uint64_t size_bytes) {
  constexpr std::uint64_t kAlways = 8;
  const std::uint64_t most =
      std::clamp<std::uint64_t>(2 * kGiB / std::max<std::uint64_t>(size_bytes, 1), kAlways, 1000);
  return static_cast<std::uint32_t>(std::max(kAlways, std::min<std::uint64_t>(ops, most)));
}

}  // namespace zerotax

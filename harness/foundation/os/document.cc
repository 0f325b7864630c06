// Environments and loads as JSON.
#include "base/fields.h"
#include "os/environment.h"
#include "os/load.h"
#include "os/page.h"

namespace zerotax {

ZEROTAX_FIELDS_WRITTEN(Capabilities, pagemap, write_tracking, system_calls, root)
ZEROTAX_FIELDS(Environment, kernel, machine, cpu, cpus, memory_bytes, memory_available_bytes, page_bytes, thp,
               swap_bytes, cgroup_memory_limit_bytes, load_average, libc, pagemap_scan, capabilities)
ZEROTAX_FIELDS(Load, cpus, start, end, others_cpus, busy, sentence)

std::uint64_t page_bytes_of(const Json& environment) {
  const auto found = environment.find("page_bytes");
  return found != environment.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : page_bytes();
}

}  // namespace zerotax

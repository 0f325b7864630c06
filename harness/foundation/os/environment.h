#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/measured.h"

namespace zerotax {

/// What metrics were measured on: kernel, CPU, memory, huge pages, swap, cgroup limit, load, C library, interfaces. The
/// fields are the keys of "environment" in results/schema/run.schema.json, which describes them.
struct Environment {
  Measured<std::string> kernel;
  Measured<std::string> machine;
  Measured<std::string> cpu;
  Measured<std::uint64_t> cpus;
  Measured<std::uint64_t> memory_bytes;
  Measured<std::uint64_t> memory_available_bytes;
  Measured<std::uint64_t> page_bytes;
  Measured<std::string> thp;
  Measured<std::uint64_t> swap_bytes;
  Measured<std::uint64_t> cgroup_memory_limit_bytes;
  Measured<std::array<double, 3>> load_average;
  Measured<std::string> libc;
  Measured<bool> pagemap_scan;
  Json capabilities;  ///< Capabilities; other versions may have other ones
};

/// Which interfaces this process can use.
struct Capabilities {
  std::string pagemap;         ///< "PAGEMAP_SCAN", "read", or why there is neither
  std::string write_tracking;  ///< by what, or why not
  std::string system_calls;    ///< counted by what, or why not
  bool root = false;
};

Environment describe_environment();

/// Bytes of a page, of the machine of an environment in a document; of this machine if it does not say.
std::uint64_t page_bytes_of(const Json& environment);

void to_json(Json& json, const Environment& environment);
void from_json(const Json& json, Environment& environment);
void to_json(Json& json, const Capabilities& capabilities);

}  // namespace zerotax

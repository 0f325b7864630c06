#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/fields.h"
#include "base/json.h"
#include "base/measured.h"

namespace zerotax {

struct Environment {
  static constexpr const char* kSchema = R"({"$ref": "run.schema.json#/properties/environment"})";

  RESULT("environment");
  FIELD(Measured<std::string>, kernel, "Release of the kernel, as uname -r prints it.");
  FIELD(Measured<std::string>, machine, "Processor architecture, as uname -m prints it.");
  FIELD(Measured<std::string>, cpu, "Model name of the processor.");
  FIELD(Measured<std::uint64_t>, cpus, "Number of processors available to the run.", least(1));
  FIELD(Measured<std::uint64_t>, memory_bytes, "Physical memory, in bytes.");
  FIELD(Measured<std::uint64_t>, memory_available_bytes,
        "Memory available when the run began, in bytes (MemAvailable).");
  FIELD(Measured<std::uint64_t>, page_bytes, "Size of a page, in bytes.", least(1));
  FIELD(Measured<std::string>, thp, "Transparent huge pages: the current setting (always, madvise, never).");
  FIELD(Measured<std::uint64_t>, swap_bytes, "Size of all swap areas, in bytes.");
  FIELD(Measured<std::uint64_t>, cgroup_memory_limit_bytes, "Memory limit of the control group, in bytes.");
  MEMBER(load_average, "Load averages over 1, 5 and 15 minutes when the run began: mean number of runnable tasks.");
  Measured<std::array<double, 3>> load_average;
  FIELD(Measured<std::string>, libc, "C library and its version.");
  FIELD(Measured<bool>, pagemap_scan,
        "Whether the kernel has PAGEMAP_SCAN, which distinguishes populated pages from the shared zero page.");
  FIELD(Json, capabilities,
        "Capabilities of this machine for zerotax, by name. Other versions of zerotax may use other names.", with(R"({
          "type": "object",
          "additionalProperties": {
            "anyOf": [{"type": ["string", "boolean", "number"]}, {"$ref": "point.schema.json#/$defs/na"}]
          }
        })"));
};

/// Kernel and CPU interfaces that this process can use.
struct Capabilities {
  RESULT("capabilities");
  FIELD(std::string, pagemap,
        "Method of finding populated pages, \"PAGEMAP_SCAN\" or \"read\", or the reason why no method is available.");
  FIELD(std::string, write_tracking, "Method of tracking writes, or the reason why no method is available.");
  FIELD(std::string, system_calls, "Method of counting system calls, or the reason why no method is available.");
  FIELD(bool, root, "Whether the user is root.");
};

Environment describe_environment();

/// Returns the page size in bytes of the machine in a document's environment, or of this machine if the document has no
/// page size.
std::uint64_t page_bytes_of(const Json& environment);

}  // namespace zerotax

#include "record/remedies.h"

#include "base/names.h"
#include "judge/projects.h"

namespace zerotax::record {

std::string allocator_name(const std::string& file) {
  const std::string name = file_name(file);
  if (name.starts_with("libc.so") || name.starts_with("libc-")) return "glibc";
  // Those whose projects are known, whether or not this build has them.
  for (const auto& [allocator, upstream] : embedded_upstreams()) {
    if (name.find(allocator) != std::string::npos && name.starts_with("lib")) return allocator;
  }
  return "";
}

}  // namespace zerotax::record

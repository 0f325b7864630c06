#pragma once

#include <string>
#include <vector>

#include "doctor/machine.h"

namespace zerotax::doctor {

/// A file of the process's own cgroup, or of one above it.
struct CgroupFile {
  std::string path;
  std::string text;  ///< its first line
};

/// The files of this name from the process's cgroup upwards, of version 2, and of version 1's controller; none where
/// a name is empty or nothing can be read.
std::vector<CgroupFile> cgroup_files(const Machine& machine, const std::string& controller, const std::string& name_v2,
                                     const std::string& name_v1);

}  // namespace zerotax::doctor

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zerotax::profile {

/// The process that was sampled, as it was when sampling began.
struct SampledProcess {
  pid_t pid = 0;
  std::string name;
  std::string path;
  pid_t parent = 0;
  std::string parent_name;
  std::uint64_t load_address = 0;  ///< 0: not known
  std::string build_id;            ///< hexadecimal; empty: none
  std::string launched;            ///< UTC
  bool ended = false;              ///< by itself, while it was sampled
  std::vector<pid_t> running;      ///< processes that it started and that outlived it
};

/// What was profiled, and in what way.
struct ProfileSubject {
  std::vector<std::string> command;  ///< the program's words, or those that name the case
  unsigned hz = 0;
  bool wall = false;
  double wall_s = 0;
  double user_s = 0;  ///< by the kernel's own account (rusage), a second method
  double system_s = 0;
  std::uint64_t faults = 0;  ///< page faults, by the same account
  int exit_status = 0;
  std::string started;
  std::optional<SampledProcess> process = {};
};

}  // namespace zerotax::profile

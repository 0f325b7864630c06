#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "observe/profile_data.h"
#include "profile/subject.h"

namespace zerotax::profile {

// The fields below are the keys of results/schema/profile.schema.json, which describes them.

/// Of one process that was sampled.
struct Sampled {
  pid_t pid = 0;
  Measured<std::string> name;
  Measured<std::string> path;
  pid_t parent_pid = 0;
  Measured<std::string> parent_name;
  Measured<std::string> load_address;
  Measured<std::string> build_id;
  Measured<std::string> launched;
  bool ended = false;
  std::optional<std::vector<pid_t>> running;
};

struct SamplingMethod {
  std::string event;
  unsigned hz = 0;
  Measured<std::string> samples_of;
  Measured<std::string> kernel;
  Measured<std::string> kernel_names;
  std::optional<std::uint64_t> looks;            ///< by the clock on the wall
  std::optional<Measured<std::string>> blocked;  ///< by the clock on the wall
};

struct Unseen {
  double share = 0;
  double cpu_s = 0;
  double seen_s = 0;
  Measured<double> user_share;
  Measured<std::string> why;
  Measured<std::string> remedy;
};

struct Category {
  std::string category;
  Measured<std::uint64_t> samples;
  std::optional<std::uint64_t> at_most;
  std::optional<Measured<std::uint64_t>> while_zeroing;
  std::optional<Measured<std::uint64_t>> while_filling;
  std::optional<Measured<std::uint64_t>> while_in_memset_of_unknown_value;
};

struct Function {
  std::string function;
  std::string module;
  std::uint64_t samples = 0;
};

/// A call, and what it called. In a tree by place: also where.
struct Call : Function {
  std::vector<Call> children;
  std::optional<Measured<std::uint64_t>> offset;
  std::optional<Measured<std::string>> address;
  std::optional<std::uint64_t> places;
};

struct PageFaults {
  std::uint64_t taken = 0;
  Measured<std::uint64_t> samples;
  std::uint64_t sampled = 0;
  std::vector<Call> tree;
};

struct Thread {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string name;
  std::uint64_t samples = 0;
  std::vector<Call> tree;
};

struct Profile : DocumentHead {
  int exit_status = 0;
  Measured<Sampled> process;
  SamplingMethod method;
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
  std::uint64_t samples = 0;
  std::uint64_t accounted = 0;
  std::uint64_t lost = 0;
  double lost_share = 0;
  Measured<Unseen> unseen;
  std::vector<InterpreterNames> script_names;
  std::vector<Category> categories;
  std::vector<Function> top_of_stack;
  std::vector<Call> tree;
  PageFaults page_faults;
  std::optional<std::vector<Thread>> threads;
};

Profile profile_result(const ProfileSubject& subject, const ProfileData& data, Json environment);

}  // namespace zerotax::profile

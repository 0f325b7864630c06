#include "run/planning.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/nearest.h"
#include "base/size.h"
#include "meter/sample_block.h"
#include "os/print.h"
#include "os/regular_file.h"
#include "run/allocators.h"
#include "run/probe_identity.h"
#include "run/program_launch.h"

namespace zerotax {

std::uint64_t memory_needed(const PointSpec& point) {
  const auto known = known_cases().find(point.case_name);
  const double blocks = known != known_cases().end() ? known->second.memory : 1;
  return static_cast<std::uint64_t>(static_cast<double>(point.size_bytes) * blocks);
}

void check_axes(const PlanAxes& axes) {
  const auto& known = known_cases();
  for (const std::string& name : axes.cases) {
    if (known.contains(name)) continue;
    if (name == "fork_snapshot") {
      throw UsageError("the case 'fork_snapshot' has a command of its own",
                       "run zerotax snapshot (zerotax snapshot --help)");
    }
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const auto& entry : known) names.push_back(entry.first);
    refuse_word(fmt::format("unknown case '{}'", name), name, names);
  }
  for (const std::uint64_t size : axes.sizes) {
    if (size > 0 && size < kAddressSpaceBytes) continue;
    throw UsageError(fmt::format("invalid size of {} bytes", size), "give a size from 1 byte to less than 128 TiB");
  }
  for (const double touch : axes.touches) {
    if (touch >= 0 && touch <= 1) continue;
    throw UsageError(fmt::format("invalid --touch {:g}", touch), "give a number from 0 to 1");
  }
  for (const std::string& thread : axes.threads) {
    check_word("thread", thread, {"main", "worker"});
  }
}

void add_points(Plan& plan, const PlanAxes& axes, const Repeats& repeats) {
  std::set<std::string> there;
  for (const PointSpec& point : plan.points) there.insert(point_key(plan, point));
  for (const std::uint64_t size : axes.sizes) {
    for (const std::string& case_name : axes.cases) {
      for (const std::string& thread : axes.threads) {
        for (const double touch : axes.touches) {
          for (std::size_t i = 0; i < plan.allocators.size(); ++i) {
            const PointSpec point{i, case_name, size, touch, thread, repeats};
            if (there.insert(point_key(plan, point)).second) plan.points.push_back(point);
          }
        }
      }
    }
  }
}

}  // namespace zerotax

// Reads a plan from JSON; point/plan.cc writes it.

namespace zerotax {
namespace {

/// Reads an integer from JSON. Throws UsageError if the integer is out of bounds.
std::uint64_t number_from_json(const Json& json, const char* key, std::uint64_t least, std::uint64_t most) {
  const Json& value = json.at(key);
  if (value.is_number_unsigned() && value >= least && value <= most) return value.get<std::uint64_t>();
  throw UsageError(fmt::format("invalid {} {} in the plan", key, json_line(value)),
                   fmt::format("the plan needs a whole number from {} to {}", least, most));
}

Repeats repeats_from_json(const Json& json) {
  const auto ops = [&](const char* key) { return static_cast<std::uint32_t>(number_from_json(json, key, 1, kMaxOps)); };
  constexpr std::uint64_t kDayMs = 86'400'000;
  return {ops("ops"), ops("min_ops"), ops("audit_ops"), ops("zeroing_ops"),
          static_cast<std::int64_t>(number_from_json(json, "budget_ms", 0, kDayMs))};
}

PointSpec point_from_json(const Json& json, const Plan& plan) {
  const std::string name = json.at("allocator");
  for (std::size_t i = 0; i < plan.allocators.size(); ++i) {
    if (plan.allocators[i].name != name) continue;
    return {i,
            json.at("case"),
            number_from_json(json, "size_bytes", 1, kAddressSpaceBytes),
            json.at("touch"),
            json.at("thread"),
            repeats_from_json(json.at("repeats"))};
  }
  throw UsageError(fmt::format("the plan has a point of '{}', which is not one of the plan's allocators", name),
                   "measure again into a new folder");
}

constexpr const char* kMeasureAgain = "measure again into a new folder";

/// Prints the variables and the library that a plan selects, because a library is code. Throws UsageError for a
/// relative path, or if another user can write to the plan or the library.
void announce_allocator(const std::string& file, const Allocator& allocator) {
  announce_variables(file, allocator.name, allocator.env, kMeasureAgain);
  if (!allocator.preload) return;
  const std::string& library = *allocator.preload;
  if (!library.starts_with('/')) {
    throw UsageError(fmt::format("the plan names the library {}, which is not an absolute path", library),
                     kMeasureAgain);
  }
  for (const std::string& each : {file, library}) {
    std::error_code failure;
    // A missing library is reported later, where it is opened.
    if (is_of_trusted_user(each) || !std::filesystem::exists(each, failure)) continue;
    throw UsageError(
        fmt::format("the plan names the library {}, but another user can write to {}", library,
                    each == file ? "the plan" : "the library"),
        fmt::format("to use the library, start a new run with --allocator {}={}", allocator.name, library));
  }
  print_text(stderr, "zerotax: library from {} for {}: {}\n", file, allocator.name, library);
}

/// Returns the allocators of a plan as installed on this machine. Throws UsageError if the version of an allocator has
/// changed.
std::vector<Allocator> allocators_from_json(const Json& json, const std::string& file) {
  std::vector<std::string> words;
  std::vector<std::string> env_words;
  for (const Json& entry : json) {
    const std::string name = entry.at("name");
    Allocator named{name, "", std::nullopt, entry.at("env").get<std::map<std::string, std::string>>(), ""};
    if (!entry.at("preload").is_null()) named.preload = entry.at("preload").get<std::string>();
    announce_allocator(file, named);
    words.push_back(allocator_word(named));
    for (const auto& [key, value] : named.env) env_words.push_back(fmt::format("{}:{}={}", name, key, value));
  }
  std::vector<Allocator> allocators = resolve_allocators(words, env_words);
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    const Json& version = json.at(i).at("version");
    if (version == version_json(allocators[i])) continue;
    throw UsageError(fmt::format("{} was started with {} {}, but this machine now has {}", file, allocators[i].name,
                                 json_line(version), json_line(version_json(allocators[i]))),
                     "versions cannot be mixed in one run: measure again into a new folder");
  }
  return allocators;
}

}  // namespace

Plan plan_from_json(const Json& json, const std::string& file) {
  const std::string remedy = "measure again into a new folder: only a folder that this version wrote can be resumed";
  const std::string schema = text_field(json, "schema", "none");
  if (schema != kPlanSchema) {
    throw UsageError(fmt::format("{} has schema '{}', not '{}'", file, schema, kPlanSchema), remedy);
  }
  try {
    Plan plan;
    plan.study = json.at("study").is_null() ? "" : json.at("study").get<std::string>();
    plan.timeout_s = json.at("timeout_s");
    plan.audit_only = json.value("audit_only", false);
    plan.huge_pages = huge_pages_of(json.value("thp", ""));
    plan.allocators = allocators_from_json(json.at("allocators"), file);
    PlanAxes axes;
    for (const Json& entry : json.at("points")) {
      const PointSpec& point = plan.points.emplace_back(point_from_json(entry, plan));
      axes.cases.push_back(point.case_name);
      axes.sizes.push_back(point.size_bytes);
      axes.touches.push_back(point.touch);
      axes.threads.push_back(point.thread);
    }
    check_axes(axes);
    return plan;
  } catch (const UsageError& failure) {
    throw UsageError(fmt::format("{}: {}", file, failure.what()), failure.remedy());
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("{} is damaged: {}", file, failure.what()), remedy);
  }
}

namespace {

constexpr std::uint64_t kMB = 1'000'000;

void add(Plan& plan, const std::vector<std::string>& cases, const std::vector<std::uint64_t>& sizes) {
  for (const std::uint64_t size : sizes) add_points(plan, {cases, {size}, {0.0}, {"main"}}, receive_repeats(size));
}

}  // namespace

Repeats receive_repeats(std::uint64_t size_bytes) {
  // No known allocator changes its behavior after its fifth call, so five or more metered calls suffice. A loop without
  // meters follows these calls.
  if (size_bytes <= 16 * kMiB) return {8, 8, 8, 8, 0};
  return size_bytes <= 256 * kMiB ? Repeats{5, 5, 3, 1, 0} : Repeats{5, 5, 2, 1, 0};
}

void add_receive_points(Plan& plan, bool full) {
  std::error_code failure;
  if (!std::filesystem::exists(helper_program("recv-server"), failure)) return;
  if (!full) {
    // The report of 2016 used 100 MB. largecache does not keep blocks of 128 MiB, and such blocks take less time to
    // zero than blocks of 1 GB.
    add(plan, {"recv_buffer"}, {100 * kMB, 128 * kMiB});
    return;
  }
  std::vector<std::uint64_t> sizes{100 * kMB, 1000 * kMiB};
  for (std::uint64_t size = 16 * kKiB; size <= kGiB; size *= 2) sizes.push_back(size);
  add(plan, {"recv_buffer", "recv_buffer_tcp"}, sizes);
}

}  // namespace zerotax

#include "drive/plan.h"

#include <fmt/format.h>

#include "base/error.h"

namespace zerotax {
namespace {

constexpr const char* kSchema = "zerotax.plan/1";

Json repeats_json(const Repeats& repeats) {
  return Json{{"ops", repeats.ops},
              {"min_ops", repeats.min_ops},
              {"audit_ops", repeats.audit_ops},
              {"budget_ms", repeats.budget_ms}};
}

Repeats repeats_from_json(const Json& json) {
  return {json.at("ops"), json.at("min_ops"), json.at("audit_ops"), json.at("budget_ms")};
}

}  // namespace

void add_points(Plan& plan, const PlanAxes& axes, const Repeats& repeats) {
  for (const std::uint64_t size : axes.sizes) {
    for (const std::string& case_name : axes.cases) {
      for (const std::string& thread : axes.threads) {
        for (const double touch : axes.touches) {
          for (std::size_t i = 0; i < plan.allocators.size(); ++i) {
            plan.points.push_back({i, case_name, size, touch, thread, repeats});
          }
        }
      }
    }
  }
}

std::string point_key(const std::string& allocator, const std::string& case_name, std::uint64_t size_bytes,
                      double touch, const std::string& thread) {
  return fmt::format("{}/{}/{}/{}/{}", allocator, case_name, size_bytes, touch, thread);
}

Json plan_json(const Plan& plan) {
  Json json;
  json["schema"] = kSchema;
  json["study"] = plan.study.empty() ? Json(nullptr) : Json(plan.study);
  json["timeout_s"] = plan.timeout_s;
  json["allocators"] = Json::array();
  for (const Allocator& allocator : plan.allocators) json["allocators"].push_back(allocator_json(allocator));
  json["points"] = Json::array();
  for (const PointSpec& point : plan.points) {
    json["points"].push_back({{"allocator", plan.allocators[point.allocator].name},
                              {"case", point.case_name},
                              {"size_bytes", point.size_bytes},
                              {"touch", point.touch},
                              {"thread", point.thread},
                              {"repeats", repeats_json(point.repeats)}});
  }
  return json;
}

Plan plan_from_json(const Json& json, const std::string& file) {
  const std::string remedy = "measure again into a new folder: only a folder that this version wrote can be resumed";
  const std::string schema = json.is_object() ? json.value("schema", "none") : "none";
  if (schema != kSchema) {
    throw UsageError(fmt::format("{} has schema '{}', not '{}'", file, schema, kSchema), remedy);
  }
  try {
    Plan plan;
    plan.study = json.at("study").is_null() ? "" : json.at("study").get<std::string>();
    plan.timeout_s = json.at("timeout_s");
    std::vector<std::string> words;
    std::vector<std::string> env_words;
    for (const Json& entry : json.at("allocators")) {
      const std::string name = entry.at("name");
      words.push_back(entry.at("preload").is_null() ? name : name + "=" + entry.at("preload").get<std::string>());
      for (const auto& [key, value] : entry.at("env").items()) {
        env_words.push_back(fmt::format("{}:{}={}", name, key, value.get<std::string>()));
      }
    }
    plan.allocators = resolve_allocators(words, env_words);
    for (std::size_t i = 0; i < plan.allocators.size(); ++i) {
      const Json& entry = json.at("allocators").at(i);
      if (entry.at("version") == version_json(plan.allocators[i])) continue;
      throw UsageError(fmt::format("{} was begun with {} {}, and now there is {}", file, plan.allocators[i].name,
                                   entry.at("version").dump(), version_json(plan.allocators[i]).dump()),
                       "versions cannot be mixed in one run: measure again into a new folder");
    }
    for (const Json& entry : json.at("points")) {
      const std::string name = entry.at("allocator");
      std::size_t index = 0;
      while (index < plan.allocators.size() && plan.allocators[index].name != name) ++index;
      if (index == plan.allocators.size())
        throw UsageError(fmt::format("{} has a point of unknown '{}'", file, name), remedy);
      plan.points.push_back({index, entry.at("case"), entry.at("size_bytes"), entry.at("touch"), entry.at("thread"),
                             repeats_from_json(entry.at("repeats"))});
    }
    return plan;
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("{} is damaged: {}", file, failure.what()), remedy);
  }
}

}  // namespace zerotax

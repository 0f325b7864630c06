#include "findings/tax.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/size.h"
#include "base/units.h"
#include "findings/points.h"

namespace zerotax::findings {
namespace {

std::optional<std::uint64_t> count(const Json& figure) {
  if (figure.is_number()) return figure.get<std::uint64_t>();
  return std::nullopt;
}

/// Joins a size to the span before it if the size measured just before it paid too.
void extend(std::vector<SizeSpan>& spans, std::uint64_t size, bool paying, bool& paid_before) {
  if (paying) {
    if (paid_before) {
      spans.back().to = size;
    } else {
      spans.push_back({size, size});
    }
  }
  paid_before = paying;
}

struct Sample {
  SizeCost cost;
  std::optional<std::uint64_t> fresh_redundant;
};

AllocatorTax find_tax(const std::string& label, std::vector<Sample> samples, std::vector<std::string> problems) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.cost.size_bytes < b.cost.size_bytes; });
  AllocatorTax tax;
  tax.label = label;
  tax.problems = std::move(problems);
  bool paid = false;
  bool paid_fresh = false;
  for (const Sample& sample : samples) {
    const std::uint64_t size = sample.cost.size_bytes;
    ++(sample.cost.redundant_bytes ? tax.measured : tax.not_measured);
    extend(tax.paying, size, sample.cost.paying.has_value(), paid);
    extend(tax.paying_fresh, size, sample.fresh_redundant && is_much(*sample.fresh_redundant, size), paid_fresh);
    tax.costs.push_back(sample.cost);
  }
  return tax;
}

/// A figure that older runs do not have.
std::optional<std::uint64_t> count_if_there(const Json& point, const char* key) {
  return point.contains(key) ? count(point.at(key)) : std::nullopt;
}

/// What free does at one size, whatever was written to the block.
struct InFree {
  bool clears = false;
  bool needlessly = false;
  bool unknown = false;
};

void look_at_free(const Json& point, std::map<std::uint64_t, InFree>& sizes) {
  if (!point.contains("zeroed_in_free_bytes")) return;
  const std::uint64_t size = point.at("size_bytes");
  InFree& at_size = sizes[size];
  const auto zeroed = count_if_there(point, "zeroed_in_free_bytes");
  at_size.unknown = at_size.unknown || !zeroed;
  at_size.clears = at_size.clears || (zeroed && is_much(*zeroed, size));
  const auto redundant = count_if_there(point, "redundant_zeroed_in_free_bytes");
  at_size.needlessly = at_size.needlessly || (redundant && is_much(*redundant, size));
}

void add_free(const std::map<std::uint64_t, InFree>& sizes, AllocatorTax& tax) {
  bool cleared = false;
  bool needlessly = false;
  for (const auto& [size, in_free] : sizes) {
    extend(tax.cleared_in_free, size, in_free.clears, cleared);
    extend(tax.needlessly_in_free, size, in_free.needlessly, needlessly);
    if (in_free.unknown && !in_free.clears) ++tax.free_not_measured;
  }
}

Sample sample_of(const Json& point) {
  Sample sample{};
  sample.cost.size_bytes = point.at("size_bytes");
  const Json& time = point.at("calloc_ns");
  if (!is_not_available(time)) sample.cost.calloc_ns = time.at("median").get<double>();
  sample.cost.redundant_bytes = count(point.at("redundant_zeroed_bytes"));
  if (const auto calls = redundant_calls(point); calls && !calls->empty()) sample.cost.paying = calls->front();
  if (const auto modes = point.find("modes"); modes != point.end() && modes->contains("timing")) {
    for (const Json& mode : modes->at("timing")) sample.cost.calloc_ns_modes.push_back(mode.at("calloc_ns"));
  }
  const Json& first = point.at("first_ops");
  if (!first.empty()) sample.fresh_redundant = count(first.at(0).at("redundant_zeroed_bytes"));
  return sample;
}

}  // namespace

std::string allocator_label(const Json& point) {
  std::string label = point.at("allocator");
  if (point.at("version").is_string()) label += " " + point.at("version").get<std::string>();
  for (const auto& [key, value] : point.at("env").items()) {
    label += fmt::format(" [{}={}]", key, value.get<std::string>());
  }
  return label;
}

std::string env_words(const Json& env) {
  std::string words;
  for (const auto& [key, value] : env.items()) {
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", key, value.get<std::string>());
  }
  return words;
}

std::vector<AllocatorTax> find_taxes(const std::vector<Json>& points) {
  std::vector<std::string> labels;
  for (const Json& point : points) {
    const std::string label = allocator_label(point);
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  std::vector<AllocatorTax> taxes;
  for (const std::string& label : labels) {
    std::vector<Sample> samples;
    std::vector<std::string> problems;
    std::map<std::uint64_t, InFree> in_free;
    for (const Json& point : points) {
      if (allocator_label(point) != label) continue;
      const std::string status = point.at("status");
      if (status != "ok") {
        problems.push_back(fmt::format("{} touch {:g}: {}: {}", format_size(point.at("size_bytes")),
                                       point.at("touch").get<double>(), status, point.at("reason").get<std::string>()));
        continue;
      }
      if (point.at("case") != "calloc_loop" || point.at("thread") != "main") continue;
      look_at_free(point, in_free);
      if (point.at("touch") == 0.0) samples.push_back(sample_of(point));
    }
    taxes.push_back(find_tax(label, std::move(samples), std::move(problems)));
    add_free(in_free, taxes.back());
  }
  return taxes;
}

}  // namespace zerotax::findings

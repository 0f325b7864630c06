#include "analyze/tax.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"

namespace zerotax {
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
    extend(tax.paying_fresh, size, sample.fresh_redundant && is_redundant(*sample.fresh_redundant, size), paid_fresh);
    tax.costs.push_back(sample.cost);
  }
  return tax;
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
    for (const Json& point : points) {
      if (allocator_label(point) != label) continue;
      const std::string status = point.at("status");
      if (status != "ok") {
        problems.push_back(fmt::format("{} touch {:g}: {}: {}", format_size(point.at("size_bytes")),
                                       point.at("touch").get<double>(), status, point.at("reason").get<std::string>()));
        continue;
      }
      if (point.at("case") == "calloc_loop" && point.at("touch") == 0.0 && point.at("thread") == "main") {
        samples.push_back(sample_of(point));
      }
    }
    taxes.push_back(find_tax(label, std::move(samples), std::move(problems)));
  }
  return taxes;
}

}  // namespace zerotax

#include "fork/document.h"

#include <linux/sched.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/bootstrap.h"
#include "base/statistics.h"
#include "fork/agreement.h"
#include "fork/model.h"
#include "fork/sections.h"

namespace zerotax::fork {
namespace {

Json facts_json(const ForkTargetFacts& facts) {
  return {{"pages", facts.pages},
          {"huge_pages", facts.huge_pages},
          {"mappings", facts.mappings},
          {"descriptors", facts.descriptors},
          {"threads", facts.threads}};
}

/// `why`: if there are none.
Json kernel_pages_json(const std::optional<KernelPages>& counted, const std::string& why) {
  if (!counted) return not_available(why.empty() ? "interrupted" : why);
  const KernelPages& pages = *counted;
  Json json{
      {"forks", pages.forks},
      {"lost", pages.lost},
      {"pages", pages.pages()},
      {"zeroed_pages", pages.zeroed_pages()},
      {"contiguous", pages.contiguous()},
      {"parent_table_bytes", pages.parent_table_bytes >= 0 ? Json(pages.parent_table_bytes)
                                                           : not_available("/proc/PID/status does not give VmPTE")},
      {"orders", Json::array()}};
  for (const auto& [order, its] : pages.orders) {
    json["orders"].push_back(
        {{"pages", std::uint64_t{1} << order}, {"allocations", its.allocations}, {"zeroed", its.zeroed}});
  }
  return json;
}

/// Mean and variance over the forks; shares of the mean of the whole.
Json phases_json(const std::optional<ForkPhaseTimes>& times, const std::string& why) {
  if (!times) return not_available(why.empty() ? "interrupted" : why);
  if (times->forks.size() < 2) return not_available("no two forks had all of the kernel's events");
  const auto spread_json = [](const std::vector<double>& ns) {
    const Moments of = moments(ns);
    // 95 %, by the normal distribution: there are many forks.
    const double error = 1.96 * std::sqrt(of.variance / static_cast<double>(ns.size()));
    return Json{{"mean_ns", of.mean},
                {"variance_ns2", of.variance},
                {"median_ns", median(ns)},
                {"low_ns", of.mean - error},
                {"high_ns", of.mean + error}};
  };
  std::vector<double> whole;
  for (const auto& fork : times->forks) whole.push_back(std::accumulate(fork.begin(), fork.end(), 0.0));
  Json json{{"forks", times->forks.size()},
            {"incomplete", times->incomplete},
            {"lost", times->lost},
            {"whole", spread_json(whole)},
            {"phases", Json::array()}};
  for (std::size_t i = 0; i < fork_phases().size(); ++i) {
    std::vector<double> ns;
    ns.reserve(times->forks.size());
    for (const auto& fork : times->forks) ns.push_back(fork[i]);
    const ForkPhase& phase = fork_phases()[i];
    Json row{{"name", phase.name}, {"begins", phase.begins}, {"ends", phase.ends}, {"does", phase.does}};
    row.update(spread_json(ns));
    row["share"] = row.at("mean_ns").get<double>() / json.at("whole").at("mean_ns").get<double>();
    json["phases"].push_back(std::move(row));
  }
  return json;
}

/// Samples of a part of a fork: samples x period / forks nanoseconds for each fork.
Json part_json(std::uint64_t samples, const ForkSamples& of) {
  const auto all = static_cast<double>(of.stacks.size());
  const double ns_each = static_cast<double>(of.period_ns) / static_cast<double>(of.forks);
  // A count of samples is binomial: two standard deviations of its share.
  const double share = all > 0 ? static_cast<double>(samples) / all : 0;
  return {{"samples", samples},
          {"ns", static_cast<double>(samples) * ns_each},
          {"share", share},
          {"share_error", all > 0 ? 2 * std::sqrt(share * (1 - share) / all) : 0}};
}

/// Sections by nanoseconds for each fork.
Json samples_json(const ForkSamples& samples) {
  std::vector<std::uint64_t> counts(fork_sections().size());
  for (const auto& stack : samples.stacks) ++counts[section_of(stack)];
  const double ns_each = static_cast<double>(samples.period_ns) / static_cast<double>(samples.forks);
  const double sampled_ns = ns_each * static_cast<double>(samples.stacks.size());
  Json json;
  json["shares_memory"] = (samples.flags & CLONE_VM) != 0;
  json["forks"] = samples.forks;
  json["samples"] = samples.stacks.size();
  json["lost"] = samples.lost;
  json["period_ns"] = samples.period_ns;
  json["mean_ns"] = samples.mean_ns;
  json["median_ns"] = samples.median_ns;
  json["entry_ns"] = samples.entry_ns;
  json["sections_ns"] = sampled_ns;
  json["sum_over_mean"] = (sampled_ns + samples.entry_ns) / samples.mean_ns;
  json["observer"] = {{"unsampled_mean_ns", samples.unsampled_mean_ns},
                      {"unsampled_median_ns", samples.unsampled_median_ns},
                      {"median_ratio", samples.median_ns / samples.unsampled_median_ns}};
  json["sections"] = Json::array();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Json section{{"name", fork_sections()[i].name},
                 {"casper", fork_sections()[i].casper},
                 {"of_memory", fork_sections()[i].memory}};
    section.update(part_json(counts[i], samples));
    json["sections"].push_back(std::move(section));
  }
  const auto clearing = std::count_if(samples.stacks.begin(), samples.stacks.end(), clears_pages);
  json["clearing"] = part_json(static_cast<std::uint64_t>(clearing), samples);
  return json;
}

double memory_share(const Json& samples) {
  double share = 0;
  for (const Json& section : samples.at("sections")) {
    if (section.at("of_memory")) share += section.at("share").get<double>();
  }
  return share;
}

Json ablation_json(const ForkProcess& process) {
  Json json = Json::array();
  const double whole = median(process.ablation.front().round_ns);
  for (const ForkAblation& part : process.ablation) {
    const double ns = median(part.round_ns);
    json.push_back({{"flags", part.name}, {"ns", ns}, {"share_saved", 1 - ns / whole}});
  }
  return json;
}

double saved_by(const Json& ablation, const std::string& flags) {
  for (const Json& part : ablation) {
    if (part.at("flags") == flags) return part.at("share_saved");
  }
  return 0;
}

Json process_json(const ForkProcess& process, const ForkData& data) {
  Json json;
  json["name"] = process.name;
  json["visits"] = process.visits;
  json["estimates"] = Json::array();
  for (const ForkEstimate& estimate : all_estimates(process, data)) {
    json["estimates"].push_back({{"part", estimate.part}, {"ns", estimate.ns}});
  }
  json["facts"] = facts_json(process.facts);
  json["kernel_pages"] = kernel_pages_json(process.kernel_pages, process.no_kernel_pages);
  json["phases"] = phases_json(process.phases, process.no_phases);
  json["ablation"] = process.ablation.empty() || process.ablation.front().round_ns.empty()
                         ? not_available("interrupted")
                         : ablation_json(process);
  if (process.samples.empty()) {
    json["samples"] = not_available(process.no_samples.empty() ? "not requested, or interrupted" : process.no_samples);
    json["memory_share"] = json["samples"];
    return json;
  }
  json["samples"] = Json::array();
  for (const ForkSamples& samples : process.samples) json["samples"].push_back(samples_json(samples));
  const double sampled = memory_share(json["samples"][0]);
  const double ablated = saved_by(json["ablation"], "CLONE_VM");
  json["memory_share"] = {{"sampled", sampled}, {"ablated", ablated}, {"apart", ablated - sampled}};
  return json;
}

/// `no_pages`: why the kernel's pages were not counted, if they were not.
Json predictions_json(const std::vector<ForkPrediction>& predictions, const std::string& no_pages) {
  Json json = Json::array();
  for (const ForkPrediction& prediction : predictions) {
    json.push_back({{"sweep", prediction.place->sweep},
                    {"populated_bytes", prediction.place->size.populated_bytes},
                    {"kind", prediction.place->size.kind},
                    {"facts", facts_json(prediction.place->facts)},
                    {"rounds_ns", prediction.place->round_ns},
                    {"kernel_pages", kernel_pages_json(prediction.place->kernel_pages, no_pages)},
                    {"measured_ns", prediction.measured_ns},
                    {"predicted_ns", prediction.predicted_ns},
                    {"error", prediction.error()}});
  }
  return json;
}

double worst(const std::vector<ForkPrediction>& predictions) {
  double most = 0;
  for (const ForkPrediction& prediction : predictions) most = std::max(most, std::abs(prediction.error()));
  return most;
}

Json model_json(const ForkModel& model, const std::string& no_pages) {
  if (!model.not_fitted.empty()) return not_available(model.not_fitted);
  Json json;
  json["terms"] = Json::array();
  for (std::size_t i = 0; i < kForkTerms; ++i) {
    Json term{{"key", fork_terms()[i].key}, {"name", fork_terms()[i].name}};
    term["ns"] = model.known[i] ? Json(model.ns[i]) : not_available("no process had any");
    term["low_ns"] = model.known[i] ? Json(model.interval[i].low) : not_available("no process had any");
    term["high_ns"] = model.known[i] ? Json(model.interval[i].high) : not_available("no process had any");
    json["terms"].push_back(std::move(term));
  }
  json["r_squared"] = model.r_squared;
  json["worst_fit_error"] = worst(model.fit);
  json["worst_held_back_error"] = worst(model.held);
  json["fit"] = predictions_json(model.fit, no_pages);
  json["held_back"] = predictions_json(model.held, no_pages);
  return json;
}

/// Fork with page tables that are shared until a write: one entry per 2 MiB instead of 512, at the price of a huge
/// page's entry.
Json sharing_json(const ForkModel& model) {
  if (!model.not_fitted.empty()) return not_available(model.not_fitted);
  if (!model.known[2])
    return not_available("no huge pages were available, and a shared page table would cost as much as their entry");
  Json json = Json::array();
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1} << 26, std::uint64_t{1} << 30, std::uint64_t{1} << 33}) {
    ForkTargetFacts now = model.fit.front().place->facts;
    now.pages += bytes / 4096;
    ForkTargetFacts shared = model.fit.front().place->facts;
    shared.huge_pages += bytes >> 21;
    const double now_ns = predict_fork(model, now);
    const double shared_ns = predict_fork(model, shared);
    json.push_back({{"populated_bytes", bytes},
                    {"fork_ns", now_ns},
                    {"shared_ns", shared_ns},
                    {"saved", 1 - shared_ns / now_ns},
                    {"first_write_ns", 512 * model.ns[1]}});
  }
  return json;
}

}  // namespace

Json fork_json(const ForkData& data, const Json& environment, const std::string& started) {
  const ForkModel model = fit_fork_model(data.places);
  Json json;
  json["schema"] = "zerotax.fork/1";
  json["started"] = started;
  json["environment"] = environment;
  json["complete"] = data.complete;
  json["rounds"] = data.plan.rounds;
  json["most_bytes"] = data.plan.most_bytes;
  json["left_out"] = data.left_out.empty() ? Json(nullptr) : Json(data.left_out);
  json["casper"] = Json::array();
  for (const CasperRow& row : casper_table()) {
    json["casper"].push_back({{"section", row.name}, {"ms", row.ms}, {"percent", row.percent}});
  }
  json["processes"] = Json::array();
  for (const ForkProcess& process : data.processes) json["processes"].push_back(process_json(process, data));
  json["ways"] = {{"populated_bytes", data.ways_bytes}, {"ways", Json::array()}};
  for (const ForkWay& way : data.ways) {
    json["ways"]["ways"].push_back({{"name", way.name}, {"call_ns", way.call_ns}, {"gone_ns", way.gone_ns}});
  }
  json["model"] = model_json(model, data.processes.empty() ? "" : data.processes.front().no_kernel_pages);
  json["shared_page_tables"] = sharing_json(model);
  add_verdict(json);
  return json;
}

}  // namespace zerotax::fork

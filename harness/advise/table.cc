#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "advise/document.h"
#include "base/units.h"
#include "base/wrap.h"

namespace zerotax::advise {
namespace {

constexpr const char* kColumns[] = {"cpu", "wall", "faults", "memory"};

std::string ratio_text(const Json& ratio) {
  if (!ratio.contains("median")) return "n/a";
  const auto value = ratio.at("median").get<double>();
  return value < 0.001 ? "<0.001" : format_number(value);
}

/// Best first by the goal; what failed last.
std::vector<Json> sorted_remedies(const Json& document) {
  std::vector<Json> rows(document.at("remedies").begin(), document.at("remedies").end());
  const std::string goal = document.at("method").at("goal");
  const auto key = [&](const Json& row) {
    const Json& ratio = row.at("ratios").at(goal);
    const bool ok = row.at("reason").get<std::string>().empty() && row.at("verdict") != "CHANGED OUTPUT";
    return std::pair(!ok, ratio.contains("median") ? ratio.at("median").get<double>() : 1e9);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Json& a, const Json& b) { return key(a) < key(b); });
  return rows;
}

std::string note_of(const Json& row) {
  std::string reason = row.at("reason");
  if (!reason.empty()) return reason;
  return row.at("heavy").get<bool>() ? "too heavy to be recommended" : "";
}

std::string table(const Json& document) {
  const std::vector<Json> rows = sorted_remedies(document);
  if (rows.empty()) return "";
  std::string text = fmt::format("\n{:<29} {:<14} {:>7} {:>7} {:>7} {:>6} {:>4}\n", "tried, in times the present",
                                 "verdict", "CPU", "wall", "faults", "peak", "runs");
  constexpr std::size_t kName = 29;
  for (const Json& row : rows) {
    std::string name = row.at("name");
    if (name.size() > kName) {
      text += name + "\n";
      name.clear();
    }
    const Json& ratios = row.at("ratios");
    text += fmt::format("{:<29} {:<14} {:>7} {:>7} {:>7} {:>6} {:>4}\n", name, row.at("verdict").get<std::string>(),
                        ratio_text(ratios.at("cpu")), ratio_text(ratios.at("wall")), ratio_text(ratios.at("faults")),
                        ratio_text(ratios.at("memory")), row.at("runs").get<int>());
    if (const std::string note = note_of(row); !note.empty()) text += wrap(note, "    ", "    ");
  }
  return text;
}

/// Reasons, each with the names of what it is the reason for, in the order of the document.
std::vector<std::pair<std::string, std::string>> by_reason(const Json& rows) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const Json& row : rows) {
    const std::string why = row.at("why");
    const std::string name = row.at("name");
    const auto found =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& each) { return each.first == why; });
    if (found == reasons.end()) {
      reasons.emplace_back(why, name);
    } else {
      found->second += "; " + name;
    }
  }
  return reasons;
}

std::string not_tried(const Json& document) {
  if (document.at("not_tried").empty()) return "";
  std::string text = "\nNot tried:\n";
  for (const auto& [why, names] : by_reason(document.at("not_tried"))) {
    text += wrap(fmt::format("{}: {}", why, names), "  ", "    ");
  }
  return text;
}

std::string figures_sentence(const Json& document) {
  const Json& figures = document.at("present").at("figures");
  if (figures.contains("na")) return "";
  return fmt::format("The program as it is: {} of CPU time, {} of wall time, {} page faults, peak memory {}.",
                     format_ns(figures.at("cpu_s").get<double>() * 1e9),
                     format_ns(figures.at("wall_s").get<double>() * 1e9),
                     format_count(static_cast<std::uint64_t>(figures.at("faults").get<double>())),
                     format_size(static_cast<std::uint64_t>(figures.at("peak_bytes").get<double>())));
}

/// What was confirmed how, and how noisy it was.
std::string method_sentence(const Json& document) {
  const Json& method = document.at("method");
  std::string text;
  for (const Json& each : document.at("confirmations")) {
    const std::string why = each.at("why_not");
    text += fmt::format("{}: {} {}, each right after the other: {}. ", each.at("remedy").get<std::string>(),
                        each.at("pairs").size(), each.at("pairs").size() == 1 ? "pair" : "pairs of runs",
                        each.at("confirmed").get<bool>() ? "confirmed"
                        : why.empty()                    ? "not finished"
                                                         : why);
  }
  if (document.at("remedies").empty()) return text;
  return text + fmt::format(
                    "A remedy without effect is recommended in at most {:.1f} % of advices. Runs of the program "
                    "as it is differ by {:.1f} % (standard deviation); verdicts that were not confirmed are of a "
                    "few runs each.",
                    100 * method.at("alpha").get<double>(), 100 * method.at("noise").get<double>());
}

std::string recording_sentence(const Json& document) {
  const Json& recording = document.at("recording");
  if (!recording.contains("na")) return "";
  return fmt::format("Without a recording, so that everything was tried: {}.", recording.at("na").get<std::string>());
}

std::vector<std::string> sentences(const Json& document) {
  const Json& advice = document.at("recommendation");
  std::vector<std::string> all;
  if (const std::string gains = advice.at("gains"); !gains.empty()) all.push_back("Gains: " + gains);
  if (const std::string costs = advice.at("costs"); !costs.empty()) all.push_back("Costs: " + costs);
  all.push_back(advice.at("recorded"));
  for (const char* other : {"without_preload", "faster_still"}) {
    if (!advice.at(other).is_null()) all.push_back(advice.at(other).at("sentence"));
  }
  all.push_back(figures_sentence(document));
  all.push_back(recording_sentence(document));
  std::erase(all, "");
  return all;
}

}  // namespace

std::string advise_text(const Json& document) {
  const Json& advice = document.at("recommendation");
  std::string text;
  if (advice.at("line").is_string()) text += advice.at("line").get<std::string>() + "\n\n";
  text += wrap(advice.at("sentence").get<std::string>(), "", "");
  for (const std::string& sentence : sentences(document)) text += wrap(sentence, "", "");
  text += table(document) + not_tried(document);
  const std::string method = method_sentence(document);
  return method.empty() ? text : text + "\n" + wrap(method, "", "");
}

std::string advise_markdown(const Json& document) {
  const Json& advice = document.at("recommendation");
  std::string text = "## Advice\n\n";
  if (advice.at("line").is_string()) text += "```\n" + advice.at("line").get<std::string>() + "\n```\n\n";
  text += advice.at("sentence").get<std::string>() + "\n";
  for (const std::string& sentence : sentences(document)) text += "\n" + sentence + "\n";
  const std::vector<Json> rows = sorted_remedies(document);
  if (!rows.empty()) {
    text += "\n| tried | settings | verdict | CPU | wall | faults | peak | runs |\n|:--|:--|:--|--:|--:|--:|--:|--:|\n";
  }
  for (const Json& row : rows) {
    const std::string note = note_of(row);
    text += fmt::format("| {} | `{}` | {}{} |", row.at("name").get<std::string>(), row.at("line").get<std::string>(),
                        row.at("verdict").get<std::string>(), note.empty() ? "" : ": " + note);
    for (const char* column : kColumns) text += fmt::format(" {} |", ratio_text(row.at("ratios").at(column)));
    text += fmt::format(" {} |\n", row.at("runs").get<int>());
  }
  if (!document.at("not_tried").empty()) text += "\nNot tried:\n\n";
  for (const auto& [why, names] : by_reason(document.at("not_tried"))) text += fmt::format("- {}: {}\n", why, names);
  const std::string method = method_sentence(document);
  return method.empty() ? text : text + "\n" + method + "\n";
}

std::string next_step(const Json& document) {
  const Json& line = document.at("recommendation").at("line");
  return line.is_string() ? line.get<std::string>() : "";
}

}  // namespace zerotax::advise

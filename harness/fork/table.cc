#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "fork/document.h"
#include "os/page.h"

namespace zerotax::fork {
namespace {

std::string percent(double share) { return format_percent(share); }

/// The processes of the table that have this; an earlier version may not have written it.
std::vector<const Json*> processes_with(const char* key, const Json& fork) {
  std::vector<const Json*> processes;
  for (const Json& process : fork.at("processes")) {
    const auto found = process.find(key);
    if (found != process.end() && !is_not_available(*found)) processes.push_back(&process);
  }
  return processes;
}

/// Sections of fork by the paper's sections, for each process.
std::string table_of(const Json& fork) {
  const std::vector<const Json*> processes = processes_with("samples", fork);
  if (processes.empty()) return "";
  std::string text = fmt::format("{:<22} {:<14}", "where fork's time goes", "CASPER, 1989");
  for (const Json* process : processes) text += fmt::format(" {:>18}", process->at("name").get<std::string>());
  text += "\n";
  std::map<std::string, std::string> casper;
  for (const Json& row : fork.at("casper")) {
    casper[row.at("section")] =
        fmt::format("{:.2f} ms {:>3} %", row.at("ms").get<double>(), row.at("percent").get<int>());
  }
  const Json& first = processes.front()->at("samples").at(0).at("sections");
  const auto sections_of = [&](const std::string& heading, const std::string& paper,
                               const std::string& casper_section) {
    text += fmt::format("{:<22} {:<14}\n", heading, paper);
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i].at("casper") != casper_section) continue;
      text += fmt::format("  {:<20} {:<14}", first[i].at("name").get<std::string>(), "");
      for (const Json* process : processes) {
        const Json& found = process->at("samples").at(0).at("sections").at(i);
        text += fmt::format(" {:>9} {:>8}", text_field(found, "text", "n/a"), percent(found.at("share")));
      }
      text += "\n";
    }
  };
  for (const auto& row : fork.at("casper")) {
    const std::string section = row.at("section");
    if (section != "Total fork") sections_of(section, casper[section], section);
  }
  sections_of("not in the paper", "", "-");
  const auto line = [&](const char* name, const std::string& paper, auto cell) {
    text += fmt::format("{:<22} {:<14}", name, paper);
    for (const Json* process : processes) {
      text += fmt::format(" {:>18}", cell(process->at("samples").at(0)));
    }
    text += "\n";
  };
  line("kernel entry and exit", "", [](const Json& s) { return format_ns(s.at("entry_ns")); });
  line("sum", casper["Total fork"],
       [](const Json& s) { return format_ns(s.at("sections_ns").get<double>() + s.at("entry_ns").get<double>()); });
  line("measured (mean)", "", [](const Json& s) { return format_ns(s.at("mean_ns")); });
  line("sum / measured", "", [](const Json& s) { return fmt::format("{:.3f}", s.at("sum_over_mean").get<double>()); });
  line("sampled / unsampled", "",
       [](const Json& s) { return fmt::format("{:.3f}", s.at("observer").at("median_ratio").get<double>()); });
  return text + "\n";
}

/// What the kernel takes for itself, and clears: of the processes of the table.
std::string kernel_pages_of(const Json& fork) {
  const std::vector<const Json*> processes = processes_with("kernel_pages", fork);
  if (processes.empty()) return "";
  std::string text = fmt::format("{:<37}", "memory that the kernel takes for a fork");
  for (const Json* process : processes) text += fmt::format(" {:>18}", process->at("name").get<std::string>());
  text += "\n";
  const auto line = [&](const char* name, auto cell) {
    text += fmt::format("  {:<35}", name);
    for (const Json* process : processes) text += fmt::format(" {:>18}", cell(*process));
    text += "\n";
  };
  const auto number = [](const char* key) {
    return [key](const Json& process) { return format_number(process.at("kernel_pages").at(key).get<double>()); };
  };
  line("pages", number("pages"));
  line("pages that it clears", number("zeroed_pages"));
  line("page tables of the parent, in pages", [](const Json& process) {
    const Json& bytes = process.at("kernel_pages").at("parent_table_bytes");
    return is_not_available(bytes) ? "n/a" : format_count(bytes.get<std::uint64_t>() / kPageBytes);
  });
  line("allocations of more than one page", number("contiguous"));
  line("time spent clearing", [](const Json& process) {
    const Json& samples = process.at("samples");
    if (!samples.is_array() || !samples[0].contains("clearing")) return std::string("n/a");
    const Json& clearing = samples[0].at("clearing");
    return fmt::format("{} {:>8}", text_field(clearing, "text", "n/a"), percent(clearing.at("share")));
  });
  return text + "\n";
}

/// Where a fork is, by the kernel's own events: mean, standard deviation, share.
std::string phases_of(const Json& fork) {
  const std::vector<const Json*> processes = processes_with("phases", fork);
  if (processes.empty()) return "";
  std::string text = fmt::format("{:<27}", "phases, by tracepoints");
  for (const Json* process : processes) text += fmt::format(" {:>25}", process->at("name").get<std::string>());
  text += fmt::format("\n{:<27}", "");
  for (std::size_t i = 0; i < processes.size(); ++i)
    text += fmt::format(" {:>9} {:>9} {:>5}", "mean", "std dev", "share");
  text += "\n";
  const auto cell = [](const Json& of, const std::string& share) {
    return fmt::format(" {:>9} {:>9} {:>5}", format_ns(of.at("mean_ns")),
                       format_ns(std::sqrt(of.at("variance_ns2").get<double>())), share);
  };
  const Json& first = processes.front()->at("phases").at("phases");
  for (std::size_t i = 0; i < first.size(); ++i) {
    text += fmt::format("  {:<25}", first[i].at("name").get<std::string>());
    for (const Json* process : processes) {
      const Json& phase = process->at("phases").at("phases").at(i);
      text += cell(phase, fmt::format("{:.0f} %", phase.at("share").get<double>() * 100));
    }
    text += "\n";
  }
  text += fmt::format("  {:<25}", "the whole call");
  for (const Json* process : processes) text += cell(process->at("phases").at("whole"), "");
  return text + "\n\n";
}

std::string ablation_of(const Json& fork) {
  std::string text;
  for (const Json& process : fork.at("processes")) {
    const Json& parts = process.at("ablation");
    if (is_not_available(parts)) continue;
    text += fmt::format("what sharing by clone(2) saves, {}:\n", process.at("name").get<std::string>());
    for (const Json& part : parts) {
      text += fmt::format("  {:<26} {:>9}   {}\n", part.at("flags").get<std::string>(), format_ns(part.at("ns")),
                          part.at("flags") == "fork" ? "" : "saves " + percent(part.at("share_saved")));
    }
    const Json& shares = process.at("memory_share");
    if (!is_not_available(shares)) {
      text += fmt::format("  share of the address space: {} by samples, {} by clone flags\n",
                          percent(shares.at("sampled")), percent(shares.at("ablated")));
    }
  }
  return text + "\n";
}

std::string model_of(const Json& fork) {
  const Json& model = fork.at("model");
  if (is_not_available(model)) return fmt::format("no model: {}\n\n", model.at("na").get<std::string>());
  std::string text = "cost of fork by what the process has (95 % interval):\n";
  for (const Json& term : model.at("terms")) {
    text += fmt::format("  {:<32} ", term.at("name").get<std::string>());
    if (is_not_available(term.at("ns"))) {
      text += fmt::format("n/a: {}\n", term.at("ns").at("na").get<std::string>());
      continue;
    }
    text += fmt::format("{:>9}   {} to {}\n", format_ns(term.at("ns")), format_ns(term.at("low_ns")),
                        format_ns(term.at("high_ns")));
  }
  text += fmt::format("  R2 {:.4f}; worst error {} on fitted sizes, {} on those held back:\n",
                      model.at("r_squared").get<double>(), percent(model.at("worst_fit_error")),
                      percent(model.at("worst_held_back_error")));
  for (const Json& held : model.at("held_back")) {
    const Json& facts = held.at("facts");
    text += fmt::format("    {:>9} predicted, {:>9} measured: {} pages, {} huge, {} mappings\n",
                        format_ns(held.at("predicted_ns")), format_ns(held.at("measured_ns")),
                        facts.at("pages").get<std::uint64_t>(), facts.at("huge_pages").get<std::uint64_t>(),
                        facts.at("mappings").get<std::uint64_t>());
  }
  return text + "\n";
}

std::string ways_of(const Json& fork) {
  const Json& ways = fork.at("ways");
  if (ways.at("ways").empty()) return "";
  std::string text =
      fmt::format("{:<26} {:>12} {:>18}\n", fmt::format("with {} populated", format_size(ways.at("populated_bytes"))),
                  "the call", "child ended after");
  for (const Json& way : ways.at("ways")) {
    text += fmt::format("  {:<24} {:>12} {:>18}\n", way.at("name").get<std::string>(), format_ns(way.at("call_ns")),
                        format_ns(way.at("gone_ns")));
  }
  return text + "\n";
}

std::string sharing_of(const Json& fork) {
  const Json& sharing = fork.at("shared_page_tables");
  if (is_not_available(sharing)) return "";
  std::string text = "predicted if page tables were shared until a write, as the paper proposed:\n";
  text += fmt::format("  {:>10} {:>12} {:>14} {:>8} {:>24}\n", "populated", "fork now", "tables shared", "saved",
                      "first write to 2 MiB");
  for (const Json& row : sharing) {
    text += fmt::format("  {:>10} {:>12} {:>14} {:>8} {:>24}\n",
                        row.at("populated_bytes") == 0 ? "nothing" : format_size(row.at("populated_bytes")),
                        format_ns(row.at("fork_ns")), format_ns(row.at("shared_ns")), percent(row.at("saved")),
                        format_ns(row.at("first_write_ns")));
  }
  return text + "\n";
}

}  // namespace

std::string fork_text(const Json& fork) {
  std::string text = kernel_pages_of(fork) + table_of(fork) + phases_of(fork);
  for (const Json& process : fork.at("processes")) {
    if (!is_not_available(process.at("samples"))) continue;
    text += fmt::format("no sections: {}\n\n", process.at("samples").at("na").get<std::string>());
    break;
  }
  text += ablation_of(fork) + ways_of(fork) + model_of(fork) + sharing_of(fork);
  for (const Json& note : fork.at("notes")) text += wrap(note.get<std::string>(), "! ", "  ");
  if (!fork.at("left_out").is_null()) text += fork.at("left_out").get<std::string>() + "\n";
  return text;
}

}  // namespace zerotax::fork

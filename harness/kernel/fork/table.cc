#include "base/table.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/lines.h"
#include "base/size.h"
#include "base/units.h"
#include "fork/result.h"
#include "os/environment.h"
#include "os/page.h"

namespace zerotax::fork {
namespace {

using Processes = std::vector<const Process*>;

/// The processes of the table that have this metric. An earlier version may not have written the metric.
template <typename T>
Processes processes_with(Measured<T> Process::*what, const Fork& fork) {
  Processes processes;
  for (const Process& process : fork.processes) {
    if (process.*what) processes.push_back(&process);
  }
  return processes;
}

/// A table with one or two columns of names, and a column for each process.
Table table_of(std::vector<Column> names, const Processes& processes) {
  for (const Process* process : processes) {
    names.push_back(right_text(process->name, 18));
  }
  return Table(std::move(names));
}

std::string ratio_text(double ratio) { return fmt::format("{:.3f}", ratio); }

std::string part_text(const Part& part) {
  return fmt::format("{:>9} {:>8}", part.text.value_or("n/a"), format_percent(part.share));
}

/// For each process, the sections of fork beside those of the paper.
std::string sections_of(const Fork& fork) {
  Processes processes = processes_with(&Process::samples, fork);
  std::erase_if(processes, [](const Process* process) { return process->plain_samples() == nullptr; });
  if (processes.empty()) return "";
  Table table = table_of({{"where fork's time goes", Unit::kText, 22}, {"CASPER, 1989", Unit::kText, 14}}, processes);
  const auto row = [&](std::string name, const std::string& paper, auto cell) {
    std::vector<Cell> cells{std::move(name), paper};
    for (const Process* process : processes) cells.emplace_back(cell(*process->plain_samples()));
    table.add(std::move(cells));
  };
  const auto heading = [&](const std::string& name, const std::string& paper, const std::string& casper) {
    table.add({name, paper});
    const std::vector<SectionTime>& first = processes.front()->plain_samples()->sections;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i].casper != casper) continue;
      row("  " + first[i].name, "", [i](const Samples& samples) { return part_text(samples.sections.at(i)); });
    }
  };
  std::string whole;
  for (const CasperRow& section : fork.casper) {
    const std::string paper = fmt::format("{:.2f} ms {:>3} %", section.ms, section.percent);
    if (section.section == "Total fork") {
      whole = paper;
    } else {
      heading(section.section, paper, section.section);
    }
  }
  heading("not in the paper", "", "-");
  row("kernel entry and exit", "", [](const Samples& s) { return format_ns(s.entry_ns); });
  row("sum", whole, [](const Samples& s) { return format_ns(s.sections_ns + s.entry_ns); });
  row("measured (mean)", "", [](const Samples& s) { return format_ns(s.mean_ns); });
  row("sum / measured", "", [](const Samples& s) { return ratio_text(s.sum_over_mean); });
  row("sampled / unsampled", "", [](const Samples& s) { return ratio_text(s.observer.median_ratio); });
  return table.text() + "\n";
}

/// The pages that the kernel takes for itself, and clears, for the processes of the table.
std::string kernel_pages_of(const Fork& fork) {
  const Processes processes = processes_with(&Process::kernel_pages, fork);
  if (processes.empty()) return "";
  Table table = table_of({{"memory that the kernel takes for a fork", Unit::kText, 37}}, processes);
  const std::uint64_t page = page_bytes_of(fork.environment);
  const auto row = [&](const char* name, auto cell) {
    std::vector<Cell> cells{std::string("  ") + name};
    for (const Process* process : processes) cells.emplace_back(cell(*process, *process->kernel_pages));
    table.add(std::move(cells));
  };
  row("pages", [](const Process&, const PagesTaken& taken) { return format_number(taken.pages); });
  row("pages that the kernel clears",
      [](const Process&, const PagesTaken& taken) { return format_number(taken.zeroed_pages); });
  row("page tables of the parent, in pages", [page](const Process&, const PagesTaken& taken) {
    const auto& bytes = taken.parent_table_bytes;
    return bytes ? format_count(static_cast<std::uint64_t>(*bytes) / page) : "n/a";
  });
  row("allocations of more than one page",
      [](const Process&, const PagesTaken& taken) { return format_number(taken.contiguous); });
  row("time spent clearing", [](const Process& process, const PagesTaken&) {
    const Samples* samples = process.plain_samples();
    return samples != nullptr && samples->clearing ? part_text(*samples->clearing) : "n/a";
  });
  return table.text() + "\n";
}

/// The phases of a fork, by the kernel's own events: mean, standard deviation and share.
std::string phases_of(const Fork& fork) {
  const Processes processes = processes_with(&Process::phases, fork);
  if (processes.empty()) return "";
  std::string names = fmt::format("{:<27}", "phases, by tracepoints");
  std::vector<Column> columns{{"", Unit::kText, 27}};
  for (const Process* process : processes) {
    names += fmt::format(" {:>25}", process->name);
    columns.push_back({"mean", Unit::kNs, 9});
    columns.push_back({"std dev", Unit::kNs, 9});
    columns.push_back(right_text("share", 5));
  }
  Table table(std::move(columns));
  const auto add = [](std::vector<Cell>& cells, const Spread& of, std::string share) {
    cells.insert(cells.end(), {of.mean_ns, std::sqrt(of.variance_ns2), std::move(share)});
  };
  const std::vector<Phase>& first = processes.front()->phases->phases;
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<Cell> cells{"  " + first[i].name};
    for (const Process* process : processes) {
      const Phase& phase = process->phases->phases.at(i);
      add(cells, phase, fmt::format("{:.0f} %", phase.share * 100));
    }
    table.add(std::move(cells));
  }
  std::vector<Cell> cells{"  the whole call"};
  for (const Process* process : processes) add(cells, process->phases->whole, "");
  table.add(std::move(cells));
  return names + "\n" + table.text() + "\n";
}

std::string ablation_of(const Fork& fork) {
  std::string text;
  for (const Process& process : fork.processes) {
    if (!process.ablation) continue;
    text += fmt::format("what sharing by clone(2) saves, {}:\n", process.name);
    Table table({{"", Unit::kText, 28}, {"", Unit::kNs, 9}, {"", Unit::kText, 0, "", {}, 3}});
    for (const CloneFlags& part : *process.ablation) {
      table.add({"  " + part.flags, part.ns, part.flags == "fork" ? "" : "saves " + format_percent(part.share_saved)});
    }
    text += table.text(false);
    if (const auto& share = process.memory_share) {
      text += fmt::format("  share of the address space: {} by samples, {} by clone flags\n",
                          format_percent(share->sampled), format_percent(share->ablated));
    }
  }
  return text + "\n";
}

std::string model_of(const Fork& fork) {
  if (!fork.model) return "";
  const Model& model = *fork.model;
  std::string text = "cost of fork for each resource of the process (95 % interval):\n";
  for (const Term& term : model.terms) {
    text += fmt::format("  {:<32} ", term.name);
    if (!term.ns) {
      text += fmt::format("n/a: {}\n", term.ns.why());
      continue;
    }
    const std::string interval = term.low_ns
                                     ? fmt::format("{} to {}", format_ns(*term.low_ns), format_ns(*term.high_ns))
                                     : "n/a: " + term.low_ns.why();
    text += fmt::format("{:>9}   {}\n", format_ns(*term.ns), interval);
  }
  text += fmt::format("  R2 {:.4f}; worst error {} on fitted sizes, {} on sizes held back:\n", model.r_squared,
                      format_percent(model.worst_fit_error), format_percent(model.worst_held_back_error));
  for (const Prediction& held : model.held_back) {
    text += fmt::format("    {:>9} predicted, {:>9} measured: {} pages, {} huge, {} mappings\n",
                        format_ns(held.predicted_ns), format_ns(held.measured_ns), held.facts.pages,
                        held.facts.huge_pages, held.facts.mappings);
  }
  return text + "\n";
}

std::string ways_of(const Fork& fork) {
  if (fork.ways.ways.empty()) return "";
  Table table({{fmt::format("with {} populated", format_size(fork.ways.populated_bytes)), Unit::kText, 26},
               {"the call", Unit::kNs, 12},
               {"child ended after", Unit::kNs, 18}});
  for (const ForkWay& way : fork.ways.ways) table.add({"  " + way.name, way.call_ns, way.gone_ns});
  return table.text() + "\n";
}

std::string sharing_of(const Fork& fork) {
  if (!fork.shared_page_tables) return "";
  Table table({{"populated", Unit::kBytes, 12, "", "nothing"},
               {"fork now", Unit::kNs, 12},
               {"tables shared", Unit::kNs, 14},
               {"saved", Unit::kPercent, 8},
               {"first write to " + format_size(huge_page_bytes()), Unit::kNs, 24}});
  for (const SharedTables& row : *fork.shared_page_tables) {
    table.add({row.populated_bytes, row.fork_ns, row.shared_ns, row.saved, row.first_write_ns});
  }
  return "predicted if page tables were shared until a write, as the paper proposed:\n" + table.text() + "\n";
}

}  // namespace

std::string fork_text(const Fork& fork) {
  std::string text = wrap(fork_headline(fork)) + "\n" + kernel_pages_of(fork) + sections_of(fork) + phases_of(fork);
  for (const Process& process : fork.processes) {
    if (process.samples) continue;
    text += fmt::format("no sections: {}\n\n", process.samples.why());
    break;
  }
  text += ablation_of(fork) + ways_of(fork) + model_of(fork) + sharing_of(fork);
  for (const std::string& note : fork.notes.value_or(std::vector<std::string>())) text += wrap(note, "! ", "  ");
  if (fork.left_out) text += *fork.left_out + "\n";
  return text;
}

}  // namespace zerotax::fork

#include "report/reproducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/error.h"
#include "base/names.h"
#include "exchange/forms.h"
#include "files/output_file.h"
#include "os/child.h"
#include "run/debian_library.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax::report {
namespace {

namespace fs = std::filesystem;

std::string ending(const ChildResult& result) {
  switch (result.end) {
    case ChildResult::End::kExited:
      return fmt::format("exit status {}", result.code);
    case ChildResult::End::kSignalled:
      return fmt::format("killed by signal {} ({})", result.code, ::strsignal(result.code));
    case ChildResult::End::kTimeout:
      return "not finished within a minute";
    default:
      return "not run to the end";
  }
}

}  // namespace

ReproducerProgram::ReproducerProgram(const CCompiler& compiler, const std::string& source) {
  write_file(folder_.file("reproducer.c"), source);
  compile_c(compiler, folder_.file("reproducer.c"), folder_.file("reproducer"));
}

ReproducerRun ReproducerProgram::run(const Allocator& allocator) const {
  ChildCommand command;
  command.program = folder_.file("reproducer");
  command.capture = true;
  // Runs the program with address randomization, as users do.
  command.fixed_layout = false;
  command.timeout = std::chrono::minutes(1);
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (allocator.preload) command.environment.emplace_back("LD_PRELOAD", *allocator.preload);
  use_own_libraries(command, allocator.preload);
  const ChildResult result = run_child(command, stop_requested);
  end_if_stopped();
  const bool exited = result.end == ChildResult::End::kExited;
  const std::string ended = ending(result);
  ReproducerRun run{allocator.name, allocator.version, {},    allocator.env,
                    result.code,    result.output,     ended, result.errors};
  if (allocator.version.empty()) run.version = NotAvailable{"the library states no version and has no build-id"};
  if (allocator.preload) run.preload = *allocator.preload;
  if (!exited) run.exit_status = NotAvailable{ended};
  return run;
}

Allocator resolve_reproducer_allocator(const Allocator& allocator) {
  Allocator resolved = allocator;
  if (resolved.preload) return resolved;
  // The probe reports which file defines its calloc.
  const std::string its = ask_probe(allocator).calloc_file;
  std::error_code failure;
  const fs::path library = fs::canonical(its, failure);
  if (failure) {
    throw MachineError(
        fmt::format("the library of {} does not exist at the path that its probe reports ({})", allocator.name, its),
        fmt::format("give the library's path, as in --allocator {}=PATH", allocator.name));
  }
  const std::string name = file_name(library.string());
  if (!name.starts_with("libc.so") && !name.starts_with("libc-")) resolved.preload = library.string();
  return resolved;
}

namespace {

/// How a finding is reproduced, and its probable cause.
struct Way {
  const char* finding;
  const char* program;  ///< name in harness/allocator/report/reproducers
  const char* shows;    ///< condition, in terms of the program's variables
  const char* claim;    ///< text printed if the finding shows
  const char* hypothesis;
};

constexpr Way kWays[] = {
    {"redundant-fresh", "calls", "2 * again >= pages", "every calloc writes to fresh pages that nobody asked for",
     "calloc does not know, or does not use, that its mapping is new, and clears it like any other block."},
    {"redundant-fresh-first", "calls", "2 * fresh >= pages", "the first calloc writes to all of its fresh pages",
     "No record shows that the memory came from the kernel and was never handed out, so calloc clears it."},
    {"redundant-reuse", "calls", "2 * stores >= pages && 2 * again < pages",
     "calloc writes to all pages of a block that nobody wrote to",
     "A freed block counts as dirty as a whole, and nothing records how much of it was written to."},
    {"first-calls-differ", "calls", "fresh <= pages / 20 + 8 && 2 * stores >= pages",
     "later calls write to all pages, the first does not",
     "The first block is a mapping of its own, and later ones come from kept memory that counts as dirty."},
    {"first-calls-differ-dearer", "calls", "2 * fresh >= pages && stores <= pages / 20 + 8",
     "the first call writes to all pages, later ones do not",
     "The first block comes from memory that counts as dirty, and later ones do not."},
    {"purge-storm", "touched", "2 * again >= pages", "every page is faulted in again in every round",
     "The pages of a freed block go back to the kernel at once, although the next block of that size needs as "
     "many."},
    {"refill-storm", "rounds", "2 * again >= pages", "the kernel zeroes the same memory again in every round",
     "Memory at the top of the heap, or in mappings of its own, goes back to the kernel with free, although the "
     "next round needs as much."},
    {"cliff", "sides", "", "ten times the faults, within one byte of size",
     "A limit of a size class or cache lies there."},
    {"worker-differs", "sides", "", "ten times the faults, depending on the thread",
     "Threads other than the main one are served by another arena, which has different rules."},
    {"worker-differs-cheaper", "sides", "", "ten times the faults, depending on the thread",
     "Threads other than the main one are served by another arena, which has different rules."},
    {"zeroing-beyond", "beyond", "", "more pages are written than were asked for",
     "The size class, not the request, is cleared."},
    {"not-zero", "not_zero", "", "calloc handed out memory that is not zero",
     "A block that is not clean is taken for clean."},
};

const Way* way_of(const std::string& finding_name) {
  const Way* way =
      std::find_if(std::begin(kWays), std::end(kWays), [&](const Way& each) { return finding_name == each.finding; });
  return way == std::end(kWays) ? nullptr : way;
}

std::string sides_of(const Finding& finding) {
  const std::uint64_t size = finding.named_bytes;
  if (finding.rule == "cliff") return fmt::format(R"({{{0}, 0, "{0}"}}, {{{1}, 0, "{1}"}})", size - 1, size);
  return fmt::format(R"({{{0}, 0, "main"}}, {{{0}, 1, "worker"}})", size);
}

/// Removes sequences that would end a comment.
std::string in_comment(std::string text) {
  for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/")) text.replace(at, 2, "* /");
  return text;
}

}  // namespace

bool has_reproducer(const std::string& finding_name) { return way_of(finding_name) != nullptr; }

std::vector<std::string> finding_names() {
  std::vector<std::string> names;
  for (const Way& way : kWays) names.emplace_back(way.finding);
  return names;
}

bool is_possible_id(const std::string& id, const std::string& allocator) {
  return std::any_of(std::begin(kWays), std::end(kWays), [&](const Way& way) {
    const std::string prefix = fmt::format("{}-{}-", allocator, way.finding);
    return id.starts_with(prefix) && id.size() > prefix.size() &&
           id.find_first_not_of("0123456789.KMGiB", prefix.size()) == std::string::npos;
  });
}

std::string reproducer_source(const Finding& finding, const ReproducerWords& words) {
  const Way* way = way_of(finding.name);
  if (way == nullptr) throw std::logic_error("no reproducer exists for " + finding.name);
  const std::vector<std::pair<std::string, std::string>> values{{"SIZE", std::to_string(finding.named_bytes)},
                                                                {"SHOWS", way->shows},
                                                                {"CLAIM", way->claim},
                                                                {"SIDES", sides_of(finding)},
                                                                {"TITLE", in_comment(words.title)},
                                                                {"HOW", in_comment(words.how)}};
  return fill_in(embedded_reproducers().at(way->program), values);
}

std::string hypothesis(const Finding& finding) {
  const Way* way = way_of(finding.name);
  return way == nullptr ? "None." : way->hypothesis;
}

}  // namespace zerotax::report

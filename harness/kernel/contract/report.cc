#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/table.h"
#include "contract/result.h"
#include "exchange/forms.h"
#include "files/output_file.h"

namespace zerotax::contract {
namespace {

constexpr const char* kForm = "promise";

namespace fs = std::filesystem;

std::string run_text(const ProgramRun& run) {
  if (!run.status) return fmt::format("The program was not run: {}.\n", run.status.why());
  return markdown_block(fmt::format("{}exit status {}\n", run.output, *run.status), "");
}

std::string found_text(const Result& result) {
  std::string text = markdown_escaped(result.detail) + ".";
  if (result.evidence) {
    text += fmt::format(" At {:#x}: {} instead of bytes {:#04x}.", result.evidence->address,
                        markdown_code(result.evidence->found), result.evidence->expected);
  }
  return text;
}

std::string reliances_text(const Promise& promise) {
  std::string text;
  for (const Reliance& one : promise.relied_on_by) {
    text += fmt::format("- {}{}{}\n", one.who, one.where.empty() ? "" : ": ", one.where);
  }
  return text;
}

std::string how_text(const Results& results) {
  const std::string prefix = fmt::format("{}", fmt::join(results.under, " "));
  return results.under.empty() ? "cc -O1 -pthread reproducer.c && ./a.out"
                               : fmt::format("cc -O1 -pthread -static reproducer.c && {} ./a.out", prefix);
}

std::string environment_text(const Results& results) {
  std::string text;
  if (results.system) {
    text += fmt::format("- as the program sees it: {} {}, {}, pages of {} bytes, user {}\n",
                        markdown_escaped(results.system->system), markdown_escaped(results.system->kernel),
                        markdown_escaped(results.system->machine), results.system->page_bytes, results.system->user_id);
  }
  if (!results.under.empty())
    text += fmt::format("- run by: {}\n", markdown_escaped(fmt::format("{}", fmt::join(results.under, " "))));
  return text + fmt::format("- measured by zerotax {} (zerotax contract)\n", ZEROTAX_VERSION);
}

}  // namespace

std::vector<std::string> write_reports(const Results& results, const std::string& subject, const std::string& folder) {
  std::vector<std::string> written;
  for (const Result& result : results.results) {
    if (result.verdict != Verdict::kBroken) continue;
    const fs::path place = fs::path(folder) / result.promise.id;
    make_new_folder({"--report", place.string()});
    const Reproducer made = result.reproducer.value_or(Reproducer{});
    const std::string text = fill_in(embedded_forms().at(kForm), {{"SUBJECT", subject},
                                                                  {"TITLE", result.promise.id + " is broken"},
                                                                  {"STATEMENT", result.promise.statement},
                                                                  {"FOUND", found_text(result)},
                                                                  {"HOW", how_text(results)},
                                                                  {"REPRODUCER", markdown_block(made.program, "c")},
                                                                  {"SHOWN", run_text(made.shown)},
                                                                  {"CONTROL", run_text(made.control)},
                                                                  {"RELIED_ON", reliances_text(result.promise)},
                                                                  {"ENVIRONMENT", environment_text(results)}});
    write_file((place / "report.md").string(), text);
    write_file((place / "reproducer.c").string(), made.program);
    written.push_back(result.promise.id);
  }
  return written;
}

}  // namespace zerotax::contract

#include "report/proof.h"

#include <fmt/format.h>

#include <vector>

#include "base/table.h"
#include "base/units.h"
#include "exchange/forms.h"
#include "files/output_file.h"
#include "os/print.h"
#include "prove/result.h"

namespace zerotax::report {
namespace {

using prove::FindingKind;

const char* statement_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::kNotZero:
      return "all bytes of a block from calloc, and of other functions that promise zeros, are zero.";
    case FindingKind::kOverflowAccepted:
      return "calloc and reallocarray return NULL if the product of their arguments overflows.";
    case FindingKind::kContentsChanged:
    case FindingKind::kOverlap:
      return "a live block belongs to the program alone until it is freed.";
    case FindingKind::kMisaligned:
      return "a block is aligned for any object that fits in it, and as far as the call requires.";
    case FindingKind::kUsableTooSmall:
      return "malloc_usable_size returns at least the requested size.";
    case FindingKind::kNotKept:
      return "realloc keeps the contents up to the smaller of both sizes.";
    default:
      return "calls with valid arguments return, in the child of a fork as well.";
  }
}

/// Returns the name and the version of a proof's allocator.
std::string subject_of(const prove::Proof& proof) {
  const std::string version = text_field(proof.allocator, "version", "");
  return version.empty() ? proof.name() : fmt::format("{} {}", proof.name(), version);
}

/// Returns the machine of a document, one fact a line.
std::string environment_of(const prove::Proofs& proofs) {
  std::string lines;
  for (const char* key : {"kernel", "machine", "cpu", "libc", "thp"}) {
    const std::string value = text_field(proofs.environment, key, "");
    if (!value.empty()) lines += fmt::format("- {}: {}\n", key, value);
  }
  return lines + fmt::format("- found {} by zerotax {}\n", proofs.started, proofs.zerotax_version);
}

std::string report_text(const prove::Proofs& proofs, const prove::Proof& proof) {
  const prove::ProofFinding& finding = *proof.finding;
  const prove::FindingProgram& program = *finding.program;
  const std::string found_by = fmt::format(
      "`zerotax prove` searched with random sequences of calls (seed {}). A sequence of {} found it, and "
      "was reduced to {}.",
      proofs.seed, format_counted(finding.operations, "operation"),
      format_count(finding.reduced.value_or(finding.operations)));
  const std::vector<std::pair<std::string, std::string>> values{
      {"SUBJECT", subject_of(proof)},
      {"TITLE", finding.sentence},
      {"FOUND", finding.sentence + "."},
      {"STATEMENT", statement_of(finding.kind)},
      {"HOW", program.how},
      {"CALLS", format_counted(program.calls, "call")},
      {"REPRODUCER", markdown_block(prove::source_text(program), "c")},
      {"SHOWN", markdown_block(program.output)},
      {"CONTROL", program.control_shows.value_or(false) ? "shows the same" : "finds nothing"},
      {"EXTENT", found_by},
      {"ENVIRONMENT", environment_of(proofs)}};
  return fill_in(embedded_forms().at("broken_promise"), values);
}

}  // namespace

ExitStatus report_proof(const std::string& file, const std::string& out) {
  const prove::Proofs proofs = prove::read_proofs(file);
  ExitStatus status = ExitStatus::kDone;
  std::size_t written = 0;
  for (const prove::Proof& proof : proofs.proofs) {
    if (!proof.finding) continue;
    const auto& program = proof.finding->program;
    const std::string id = fmt::format("{}-{}", proof.name(), word(proof.finding->kind));
    if (!program || !program->shows.value_or(false)) {
      print_text(stderr, "zerotax: no report was written, because no program shows {}\n", id);
      status = ExitStatus::kFinding;
      continue;
    }
    const std::string folder = out + "/" + id;
    make_new_folder({"--out", folder});
    write_file(folder + "/" + program->file, prove::source_text(*program));
    write_file(folder + "/report.md", report_text(proofs, proof));
    print_text("{}/report.md\n  {}: {}\n", folder, subject_of(proof), proof.finding->sentence);
    ++written;
  }
  if (written == 0 && status == ExitStatus::kDone) print_text("nothing to report: {} has no broken promise\n", file);
  return status;
}

}  // namespace zerotax::report

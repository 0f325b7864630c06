#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "judge/document.h"
#include "report/report.h"

namespace zerotax::report {

struct CauseEntry {
  RESULT("cause", "A cause found in the source, or a hypothesis.");
  FIELD(std::string, words, "Description of the cause.");
  FIELD(std::string, mark,
        "Source of the description. S: read in the source or tracker. M: measured. unconfirmed: neither.",
        one_of("S|M|unconfirmed"));
};

struct DuplicateEntry {
  RESULT("duplicate", "An existing report in the project's tracker.");
  FIELD(std::string, id, "Name of the report in the tracker.");
  FIELD(std::string, url, "URL of the report.", form("^https://"));
  FIELD(std::string, state, "State of the report.", one_of("open|closed|fixed"));
};

struct ReproducerEntry {
  RESULT("reproducer", "The C program beside this file, and its output.");
  MEMBER(file, "Name of the program's file.", one_of("reproducer.c"));
  std::string file = "reproducer.c";
  FIELD(std::string, how, "Command that compiles and runs the program.");
  FIELD(ReproducerRun, shown, "The reproducer's run under the allocator.");
  FIELD(ReproducerRun, control, "The reproducer's run under another allocator.");
};

struct ReportDocument {
  RESULT("zerotax report",
         "Data of one bug report, in report.json beside the report's text. In every report, the reproducer shows the "
         "finding under the allocator and not under the control; JSON Schema cannot express this rule.");
  MEMBER(schema, "Name and version of this format.", one_of("zerotax.report/1"));
  std::string schema = "zerotax.report/1";
  FIELD(std::string, zerotax_version, "Version of zerotax that wrote this file.");
  FIELD(std::string, started, "Start of the measurement, in UTC.", kUtc);
  FIELD(Environment, environment, "The machine and kernel, as in run.schema.json.");
  FIELD(std::string, compiler, "Version line of the C compiler.", kMayBeEmpty);
  FIELD(FindingEntry, finding, "The finding, and the effect of each knob that was tried.");
  FIELD(std::uint64_t, size_bytes,
        "Size used for the reproducer, the knobs and the profile, in bytes; for a cliff, the size above the cliff.",
        least(1));
  FIELD(Measured<NamedMetrics>, without_knobs, "Metrics measured without any knob.");
  FIELD(Measured<std::string>, project, "Project that receives the report.");
  FIELD(OrNull<std::string>, fixed_in,
        "Version that fixed the cause, if newer than the measured version. In this case, the report is a note to a "
        "distribution.",
        kMayBeEmpty);
  FIELD(std::vector<CauseEntry>, causes, "Causes in the source, or a hypothesis.", least_items(1));
  FIELD(std::vector<DuplicateEntry>, duplicates, "Existing reports in the project's tracker.");
  FIELD(std::vector<MeasuredThreshold>, thresholds,
        "Thresholds of the allocator, at the finding's thread and fraction of written pages.");
  FIELD(ReproducerEntry, reproducer, "The C program that shows the finding.");
  FIELD(Measured<ReportProfile>, profile, "Samples of the case by category, or the reason why there are no samples.");
  MEMBER(points_file, "File with the points of the table, one per line.", one_of("points.jsonl"));
  std::string points_file = "points.jsonl";
};

}  // namespace zerotax::report

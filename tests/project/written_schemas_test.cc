// The committed schemas match the structs of the results. After a change of a struct, ZEROTAX_WRITE=1
// build/tests/project_tests writes the schemas again.
#include "advise/result.h"
#include "baseline/check_document.h"
#include "bench/result.h"
#include "benchmarks/advise_alarms/self_test.h"
#include "bisect/document.h"
#include "clients/clients.h"
#include "compare/bench.h"
#include "compare/compare_document.h"
#include "compare/cow.h"
#include "compare/programs.h"
#include "contract/result.h"
#include "cow/result.h"
#include "doctor/table.h"
#include "field_schema.h"
#include "files/results.h"
#include "findings/findings.h"
#include "findings/summary_document.h"
#include "fork/result.h"
#include "point/plan.h"
#include "profile/result.h"
#include "prove/promises.h"
#include "prove/result.h"
#include "record/remedies.h"
#include "replay/result.h"
#include "report/document.h"
#include "run/fleet/job_folder.h"
#include "snapshot/sweep.h"
#include "study/loops.h"
#include "thresholds/document.h"
#include "top/result.h"

namespace zerotax {
namespace {

TEST(WrittenSchemas, AreWhatTheStructsOfTheResultsSay) {
  expect_schema<advise::AdviceResult>("advise");
  expect_schema<advise::SelfTest>("advise_self_test");
  expect_schemas<baseline::BaselineEntry, baseline::Programs>("baseline",
                                                              "The baseline that zerotax bless writes and zerotax"
                                                              " check reads.");
  expect_schema<bench::Report>("bench");
  expect_schema<bisect::BisectDocument>("bisect");
  expect_schema<record::CallsAbout>("calls");
  expect_schema<clients::Clients>("clients");
  expect_schema<contract::Contract>("contract");
  expect_schema<cow::Cow>("cow");
  expect_schema<doctor::Doctor>("doctor");
  expect_schema<findings::FindingsDocument>("findings");
  expect_schema<fleet::JobPlan>("fleet");
  expect_schema<fork::Fork>("fork");
  expect_schema<fleet::HostEntry>("host");
  expect_schema<study::LoopDocument>("loop");
  expect_schema<PlanDocument>("plan");
  expect_schemas<baseline::CheckDocument, baseline::ProgramCheck, baseline::ProgramChecks>(
      "check", "The output of zerotax check --json, for allocators, a command or several commands.");
  expect_schemas<compare::CompareDocument, compare::AlongDocument, compare::ProgramComparison, compare::BenchComparison,
                 compare::CowComparison>(
      "compare",
      "The output of zerotax compare --json, for points, an axis, two commands, or two files of bench or cow.");
  expect_schema<bisect::HistoryDocument>("history");
  expect_schema<profile::Profile>("profile");
  expect_schema<prove::Proofs>("prove");
  expect_schema<prove::Zeros>("zeros");
  expect_schema<record::Record>("record");
  expect_schema<replay::Replay>("replay");
  expect_schema<report::ReportDocument>("report");
  expect_schema<RunDocument>("run");
  expect_schema<fleet::ItemResult>("shard_result");
  expect_schema<snapshot::Snapshot>("snapshot");
  expect_schema<snapshot::Sweep>("snapshot_sweep");
  expect_schema<findings::SummaryDocument>("summary");
  expect_schema<thresholds::ThresholdsDocument>("thresholds");
  expect_schema<top::Sample>("top");
  expect_schema<record::Upstream>("upstream");
  expect_schema<replay::Workloads>("workloads");
}

}  // namespace
}  // namespace zerotax

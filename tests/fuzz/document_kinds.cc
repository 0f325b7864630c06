#include "document_kinds.h"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "advise/result.h"
#include "base/answer.h"
#include "base/error.h"
#include "base/json.h"
#include "baseline/document.h"
#include "baseline/program.h"
#include "baseline/table.h"
#include "bench/suite.h"
#include "bisect/document.h"
#include "clients/clients.h"
#include "compare/bench.h"
#include "compare/compare_document.h"
#include "compare/comparison.h"
#include "compare/cow.h"
#include "compare/points.h"
#include "contract/result.h"
#include "cow/result.h"
#include "files/document.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "files/stored_run.h"
#include "findings/findings.h"
#include "findings/summary.h"
#include "fork/result.h"
#include "judge/document.h"
#include "judge/rule.h"
#include "os/input_file.h"
#include "record/result.h"
#include "replay/result.h"
#include "run/fleet/job_folder.h"
#include "run/planning.h"
#include "snapshot/result.h"
#include "snapshot/table.h"
#include "thresholds/document.h"
#include "thresholds/map.h"
#include "thresholds/table.h"

using namespace zerotax;

Json shortened(Json json, std::size_t most) {
  if (json.is_array() && json.size() > most) json.erase(json.begin() + static_cast<std::ptrdiff_t>(most), json.end());
  for (Json& each : json) {
    if (each.is_structured()) each = shortened(std::move(each), most);
  }
  return json;
}

void write_text(const std::string& path, const std::string& text) {
  if (!(std::ofstream(path, std::ios::binary) << text).flush()) std::abort();
}

namespace {

std::size_t used = 0;
void use(const std::string& text) { used += text.size(); }
void use(const Json& json) { use(json_text(json)); }

std::string source_text(const std::string& name) { return text_of(ZEROTAX_SOURCE_DIR "/" + name); }

Json json_of(const std::string& name) { return parse_strict_json(source_text(name)); }

/// Returns the first lines of a file.
std::string lines_of(const std::string& name, int count) {
  std::istringstream all(source_text(name));
  std::string kept;
  for (std::string line; count > 0 && std::getline(all, line); --count) kept += line + "\n";
  return kept;
}

/// Returns a document of `zerotax run --json`, which contains the points.
std::string run_in_one_file() {
  Json run = json_of("results/reference/run.json");
  run.erase("points_file");
  run["points"] = Json::array();
  std::istringstream lines(lines_of("results/reference/points.jsonl", 6));
  for (std::string line; std::getline(lines, line);) run["points"].push_back(Json::parse(line));
  return json_text(run);
}

std::string sample_of(const std::string& name) { return json_text(shortened(json_of(name), 6)); }

/// Reads a file, checks it against its schema, and uses the result of `act`.
template <typename Act>
void checked(const std::string& path, const char* schema, const Act& act) {
  act(read_document(path, schema, "measure again"));
}

/// Reads a file without checking its schema. Only callers of the library do so, and these callers must catch the
/// exceptions.
template <typename Act>
void unchecked(const std::string& path, const Act& act) {
  try {
    act(read_json_file(path));
  } catch (const Json::exception& problem) {
    throw UsageError(problem.what(), "");
  } catch (const std::invalid_argument& problem) {
    throw UsageError(problem.what(), "");
  }
}

void read_run(const std::string& path, const std::string& sample) {
  const StoredRun run = read_stored_run(path);
  const findings::Summary summary = findings::summary_of(run.points, findings::read_summary_run(read_json_file(path)));
  use(findings::summary_json(summary));
  use(findings::summary_text(summary));
  use(answer_text(findings::summary_answer(summary)));
  use(findings::findings_text(find_findings(run.points, run.thresholds, {run.edges, run.controls})));

  compare::CompareReport report;
  const compare::RunFile before = compare::read_run_file(sample);
  const compare::RunFile after = compare::read_run_file(path);
  report.measured = false;
  report.before = {std::nullopt, before.path, before.environment};
  report.after = {std::nullopt, after.path, after.environment};
  report.points = compare::compare_run_files(before, after, report.cost);
  report.verdicts = compare::judge_points(report.points, report.method);
  use(compare::compare_text(report));
  use(answer_text(compare::compare_answer(report, {"zerotax"}, Palette())));
  use(compare::compare_csv(report));
  use(compare::compare_document(report));
  for (std::size_t i = 0; i < report.points.size(); ++i) use(compare::explain_text(report, i));
}

void read_record(const std::string& path, const std::string&) {
  unchecked(path, [](const Json& json) { use(record::record_json(record::read_record(json))); });
}

void read_snapshot(const std::string& path, const std::string&) {
  checked(path, "snapshot", [](const Json& json) {
    snapshot::Snapshot snapshot = snapshot::read_snapshot(json);
    snapshot::add_verdict(snapshot);
    use(snapshot::snapshot_table(snapshot));
    use(answer_text(snapshot::snapshot_answer(snapshot)));
    use(Json(snapshot));
  });
}

void read_fork(const std::string& path, const std::string&) {
  checked(path, "fork", [&](const Json& json) {
    fork::Fork fork = fork::read_fork(json, path);
    fork::add_verdict(fork);
    use(fork::fork_text(fork));
    use(answer_text(fork::fork_answer(fork)));
    use(fork::fork_json(fork));
  });
}

void read_cow(const std::string& path, const std::string&) {
  checked(path, "cow", [&](const Json& json) {
    cow::Cow cow = cow::read_cow(json);
    static_cast<cow::Verdict&>(cow) = cow::cow_verdict(cow);
    use(cow::cow_text(cow));
    use(answer_text(cow::cow_answer(cow)));
    use(cow::cow_json(cow));
    use(answer_text(compare::cow_answer(compare::compare_cow_files(cow, path, cow, path))));
  });
}

void read_thresholds(const std::string& path, const std::string&) {
  checked(path, "thresholds", [](const Json& json) {
    const thresholds::Thresholds found = thresholds::read_thresholds(json);
    use(thresholds::thresholds_json(found));
    use(thresholds::thresholds_text(found.lanes));
    use(answer_text(thresholds::answer(found)));
    if (found.is_plain()) use(thresholds::map_of(found).sentence);
  });
}

void read_advise(const std::string& path, const std::string&) {
  unchecked(path, [](const Json& json) {
    const advise::AdviceResult advice = advise::read_advise(json);
    use(advise::advise_text(advice));
    use(answer_text(advise::advise_answer(advice)));
    use(advise::advise_json(advice));
  });
}

void read_clients(const std::string& path, const std::string&) {
  unchecked(path, [](const Json& json) { use(clients::clients_json(clients::read_clients(json))); });
}

void read_workloads(const std::string& path, const std::string&) {
  checked(path, "workloads", [](const Json& json) {
    const replay::Workloads read = replay::read_workloads(json);
    use(replay::workloads_text(read));
    use(replay::zeros_text(read));
    use(replay::workloads_json(read));
  });
}

void read_baseline(const std::string& path, const std::string&) {
  const baseline::Baseline baseline = baseline::read_baseline(path);
  use(baseline::unsteady_text(baseline));
  use(baseline::to_json(baseline));
}

void read_program_baseline(const std::string& path, const std::string&) {
  const std::vector<baseline::Program> programs = baseline::read_programs(path);
  for (const baseline::Program& program : programs) use(baseline::bless_text(program, {}, path));
  use(Json(baseline::Programs{programs}));
}

void read_bench(const std::string& path, const std::string& sample) {
  const compare::BenchComparison comparison =
      compare::compare_bench_files(compare::read_bench_file(sample), compare::read_bench_file(path));
  use(compare::bench_text(comparison));
  use(answer_text(compare::bench_answer(comparison)));
  use(Json(comparison));
}

void read_plan(const std::string& path, const std::string&) {
  checked(path, "plan", [&](const Json& json) { use(plan_json(plan_from_json(json, path))); });
}

void read_recipe(const std::string& path, const std::string&) {
  checked(path, "recipe", [](const Json& json) { use(Json(json.get<bisect::Recipe>())); });
}

void read_job(const std::string& path, const std::string&) {
  checked(path, "fleet", [](const Json& json) { use(Json(json.get<fleet::JobPlan>())); });
}

void read_host(const std::string& path, const std::string&) {
  checked(path, "host", [](const Json& json) { use(Json(json.get<fleet::HostEntry>())); });
}

void read_version(const std::string& path, const std::string&) {
  unchecked(path, [](const Json& json) { use(Json(json.get<bisect::Version>())); });
}

/// Reads a document without a schema. This document is built in, and another test checks it against its schema.
void read_upstream(const std::string& path, const std::string&) {
  unchecked(path, [](const Json& json) { use(read_project(json).name); });
}

void read_contract(const std::string& path, const std::string&) {
  const contract::Results results = contract::read_results(path);
  use(contract::contract_text(results));
  use(answer_text(contract::contract_answer(results, {})));
}

void read_google_benchmark(const std::string& path, const std::string&) {
  const std::string folder = std::filesystem::path(path).parent_path() / "google";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(path, folder + "/out.json", std::filesystem::copy_options::overwrite_existing);
  for (const bench::Reported& each : bench::read_google_benchmark(folder)) use(each.name);
}

void read_criterion(const std::string& path, const std::string&) {
  const std::string folder = std::filesystem::path(path).parent_path() / "criterion" / "new";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(path, folder + "/sample.json", std::filesystem::copy_options::overwrite_existing);
  write_text(folder + "/benchmark.json", R"({"full_id": "decode"})");
  for (const bench::Reported& each : bench::read_criterion(std::filesystem::path(folder).parent_path())) use(each.name);
}

/// Returns the output of zerotax-contract: one line for the system, and one for each promise.
std::string contract_lines() {
  Json lines[] = {{{"suite", "zerotax-contract/1"},
                   {"system", "Linux"},
                   {"kernel", "6.1.0"},
                   {"machine", "x86_64"},
                   {"page_bytes", 4096},
                   {"user_id", 0},
                   {"race_seconds", 1.5},
                   {"promises", 2}},
                  {{"id", "dontneed"},
                   {"family", "madvise"},
                   {"statement", "pages are zero"},
                   {"relied_on_by", "glibc: free; run"},
                   {"verdict", "kept"},
                   {"detail", "as promised"},
                   {"seconds", 0.1},
                   {"tries", 3}},
                  {{"id", "mmap"},
                   {"family", "mmap"},
                   {"statement", "pages are zero"},
                   {"relied_on_by", ""},
                   {"verdict", "broken"},
                   {"detail", "a byte"},
                   {"seconds", 0.1},
                   {"address", 4096},
                   {"offset", 7},
                   {"expected", 0},
                   {"found", "01ff"},
                   {"program", "int main(void) { return 1; }"}}};
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  return text;
}

/// Returns a shortened copy of a sample in this folder. Commands of this version wrote the sample.
std::string kept(const char* name) { return source_text(std::string("tests/fuzz/samples/") + name); }

}  // namespace

std::vector<Kind> kinds() {
  const std::string reference = "results/reference/";
  return {
      {"run", run_in_one_file(), read_run},
      {"record", sample_of("tests/program/record/data/known.json"), read_record},
      {"cow", sample_of(reference + "cow/prefork.json"), read_cow},
      {"fork", sample_of(reference + "fork.json"), read_fork},
      {"thresholds", sample_of(reference + "thresholds.json"), read_thresholds},
      {"snapshot", sample_of(reference + "snapshot.json"), read_snapshot},
      {"advise", sample_of(reference + "advise/gcc.json"), read_advise},
      {"clients", sample_of(reference + "clients.json"), read_clients},
      {"workloads", sample_of(reference + "workloads.json"), read_workloads},
      {"baseline", sample_of("tests/regression/baselines/glibc-2.36.json"), read_baseline},
      {"plan", sample_of(reference + "plan.json"), read_plan},
      {"recipe", sample_of("allocators/mimalloc/recipe.json"), read_recipe},
      {"upstream", sample_of("allocators/mimalloc/upstream.json"), read_upstream},
      {"version", json_text(Json(bisect::Version{})), read_version},
      {"fleet",
       json_text(Json(fleet::JobPlan{
           "points", "0123456789abcdef", true, {{"glibc/calloc_loop/65536/0/main"}}, Json{{"plan", "plan.json"}}})),
       read_job},
      {"host", kept("host.json"), read_host},
      {"program_baseline", kept("program_baseline.json"), read_program_baseline},
      {"bench", kept("bench.json"), read_bench},
      {"contract lines", contract_lines(), read_contract},
      {"google benchmark",
       R"({"benchmarks": [{"name": "b/1", "run_name": "b", "real_time": 1.5, "time_unit": "us", "iterations": 100}]})",
       read_google_benchmark},
      {"criterion", R"({"iters": [1.0, 2.0], "times": [10.0, 20.0]})", read_criterion},
  };
}

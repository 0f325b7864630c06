// Measures the minor faults, CPU time and peak memory of real programs under every allocator, every policy of
// largecache, and glibc with default and with raised settings. In each round every contender runs each program once, in
// an order that rotates. `adaptive` should never cost more than the cheaper of the two glibcs (results.h). These three
// contenders run further rounds until the result is clear.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/names.h"
#include "cli/arguments.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "results.h"
#include "run/interrupt.h"
#include "run/progress.h"

namespace {

using namespace zerotax;
namespace fs = std::filesystem;

struct Options {
  std::string programs;
  std::string contenders;
  int rounds = 7;
  int again = 30;
  int timeout_s = 60;
  std::string file;
  bool smoke = false;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream text(list);
  for (std::string word; std::getline(text, word, ',');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

/// The folder in which a program runs, and the program's time limit.
struct Place {
  fs::path folder;
  std::chrono::seconds timeout;
};

/// Runs one program once under each contender. Returns false and keeps nothing if interrupted.
bool measure_round(MeasuredProgram& measured, const std::string& file, const std::vector<Contender>& contenders,
                   std::size_t round, const Place& place, Progress& progress) {
  std::map<std::string, Run> runs;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const Contender& contender = contenders[(i + round) % contenders.size()];
    // A contender that failed once is not run again, because it would fail again.
    const auto& before = measured.runs[contender.name];
    if (before.size() == round && (before.empty() || before.back().status == "ok")) {
      progress.show(measured.program.name + " under " + contender.name);
      runs[contender.name] = run_program(measured.program, file, contender, place.folder, place.timeout);
      if (stop_requested()) return false;
    }
    progress.advance(1);
  }
  for (auto& [name, run] : runs) measured.runs[name].push_back(std::move(run));
  return true;
}

/// Runs the rounds from `first` to `end`. Each round runs all of these programs. A signal ends the rounds early.
void measure(const std::vector<MeasuredProgram*>& all, const std::vector<Contender>& contenders, std::size_t first,
             std::size_t end, std::chrono::seconds timeout, const TemporaryFolder& folder) {
  const std::size_t steps = (end - first) * all.size() * contenders.size();
  Progress progress(first == 0 ? "programs" : "programs without a verdict", steps, static_cast<double>(steps));
  for (std::size_t round = first; round < end; ++round) {
    for (MeasuredProgram* measured : all) {
      std::string why;
      const std::string file = installed(measured->program, why);
      if (file.empty()) {
        measured->missing = why;
        continue;
      }
      const Place place{folder.file(measured->program.name), timeout};
      fs::create_directories(place.folder);
      if (round == 0 && measured->program.prepare) {
        progress.show("input of " + measured->program.name);
        measured->program.prepare(place.folder);
      }
      if (stop_requested() || !measure_round(*measured, file, contenders, round, place, progress)) return;
    }
  }
}

/// Runs all programs under every contender, then the undecided programs under the two glibcs and `adaptive`.
void measure(std::vector<MeasuredProgram>& all, const std::vector<Contender>& contenders, const Options& options) {
  const TemporaryFolder folder("programs");  // holds a folder of input for each program
  const std::chrono::seconds timeout(options.timeout_s);
  const auto rounds = static_cast<std::size_t>(options.smoke ? 1 : options.rounds);
  std::vector<MeasuredProgram*> chosen;
  chosen.reserve(all.size());
  for (MeasuredProgram& measured : all) chosen.push_back(&measured);
  measure(chosen, contenders, 0, rounds, timeout, folder);
  std::erase_if(chosen, [](const MeasuredProgram* measured) { return !is_undecided(*measured); });
  if (stop_requested() || options.smoke || options.again == 0 || chosen.empty()) return;
  std::vector<Contender> judged = contenders;
  std::erase_if(judged, [](const Contender& contender) { return !is_judged(contender.name); });
  measure(chosen, judged, rounds, rounds + static_cast<std::size_t>(options.again), timeout, folder);
}

Json contenders_json(const std::vector<Contender>& contenders) {
  Json json = Json::array();
  for (const Contender& contender : contenders) {
    Json variables = Json::object();
    for (const auto& [key, value] : contender.environment) variables[key] = value;
    const Json library =
        contender.library.empty() ? Json{{"na", "the C library itself"}} : Json(file_name(contender.library));
    const Json version = contender.version.empty()
                             ? Json{{"na", contender.library.empty() ? "that of the environment"
                                                                     : "the library does not report a version"}}
                             : Json(contender.version);
    json.push_back({{"name", contender.name},
                    {"kind", kind_name(contender.kind)},
                    {"version", version},
                    {"library", library},
                    {"environment", variables}});
  }
  return json;
}

int run(const Options& options) {
  if (!options.file.empty()) check_writable(options.file);
  std::vector<std::string> contender_words = words_of(options.contenders);
  if (options.smoke && contender_words.empty()) contender_words = {kDefault, "adaptive"};
  const std::vector<Contender> contenders = chosen_contenders(contender_words);
  const std::vector<std::string> names = words_of(options.programs);
  std::vector<MeasuredProgram> all;
  for (Program& program : chosen_programs(names)) {
    if (options.smoke && names.empty() && !program.quick) continue;
    all.push_back({std::move(program), {}, {}});
  }
  const Json environment = describe_environment();
  measure(all, contenders, options);
  Json json{{"schema", "zerotax.programs/1"},
            {"environment", environment},
            {"rounds", options.smoke ? 1 : options.rounds},
            {"interrupted", interrupted() != 0},
            {"contenders", contenders_json(contenders)},
            {"programs", Json::array()}};
  std::size_t broken = 0;
  std::size_t judged = 0;
  for (const MeasuredProgram& measured : all) {
    fmt::print("{}\n", program_text(measured, contenders));
    json["programs"].push_back(program_json(measured, contenders));
    const auto promises = judge(measured);
    judged += promises.has_value() ? 1 : 0;
    broken += promises && !promises->all() ? 1 : 0;
  }
  if (judged > 0) fmt::print("adaptive keeps its promises in {} of {} programs\n", judged - broken, judged);
  if (!options.file.empty()) write_file(options.file, json_text(json));
  if (interrupted() != 0) return 128 + interrupted();
  return !options.smoke && broken > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto add = [&](Arguments arguments) {
    arguments.option("--programs", options.programs, "run only these programs, as in: numpy,git").word();
    arguments
        .option("--contenders", options.contenders,
                "run only these contenders and glibc, as in: adaptive,jemalloc; NAME=PATH is any library that "
                "replaces malloc")
        .word();
    arguments.option("--rounds", options.rounds, "run each program this many times under each contender")
        .in_range(1, 1000)
        .with_default();
    arguments
        .option("--again", options.again,
                "further runs under adaptive and glibc if the first runs leave open whether adaptive costs more")
        .in_range(0, 1000)
        .with_default();
    arguments.option("--timeout", options.timeout_s, "kill a program after this many seconds")
        .in_range(1, 86'400)
        .with_default();
    arguments.flag("--smoke", options.smoke,
                   "run two programs under two contenders in one round, only to check that the benchmark works");
    arguments.option("--json", options.file, "write all results to this file").path();
  };
  const auto start = [&] {
    catch_interrupts();
    return run(options);
  };
  return standalone_main("benchmark-programs",
                         "Run real programs under glibc, every other allocator and every policy of largecache", argc,
                         argv, add, start);
}

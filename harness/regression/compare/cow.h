#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "baseline/result.h"
#include "compare/options.h"
#include "cow/result.h"
#include "exchange/outcome.h"
#include "judge/comparison.h"

namespace zerotax::compare {

struct CowFile {
  RESULT("file of cow", "A file that is compared.");
  FIELD_AS("file", std::string, path, "Path of the file.");
  FIELD(std::vector<std::string>, command, "The watched command; empty for a running process.", kMayBeEmpty);
  FIELD(std::string, method, "Method of observing and classifying faults.", one_of("tracepoints|software"));
  ENVIRONMENT_FIELD();
  Json environment;
};

struct CowCount {
  RESULT("compared count", "A count in both files.");
  FIELD(std::string, name, "Name of the count: 'copied pages', or 'copied by the garbage collector'.");
  FIELD_AS("old", Range, before, "The count in OLD; its confidence interval if OLD is a sample.");
  FIELD_AS("new", Range, after, "The count in NEW; its confidence interval if NEW is a sample.");
  FIELD(Measured<Direction>, direction,
        "Direction of the change. Copies by one writer only explain a change, so they are neither. n/a if the ranges "
        "overlap, or differ by at most 16 pages per process or 1 %, as two runs of one program may.");
  FIELD(std::string, line, "Both values in words: 'copied pages 106 → 3,519'.");
  bool in_bytes = false;
};

struct CowComparison {
  RESULT("zerotax comparison of two files of cow",
         "Copies and shared memory of two runs, as written by `zerotax compare --json FILE OLD.json NEW.json` for two "
         "files from `zerotax cow --json`.");
  static constexpr const char* kDocument = "zerotax.cow_compare/1";
  FIELD(Verdict, verdict, "The verdict on the counts, in the words of zerotax check.", baseline::kProgramVerdicts);
  FIELD(std::string, sentence, "The verdict in one sentence.");
  FIELD(std::vector<std::string>, notes, "Notes that qualify the verdict, a sentence each.");
  FIELD_AS("old", CowFile, before, "The earlier file, OLD.");
  FIELD_AS("new", CowFile, after, "The file that is compared with OLD.");
  FIELD(std::vector<CowCount>, counts, "Counts that both files contain.");
  FIELD(std::vector<NotCompared>, not_compared, "Counts that were not compared, each with the reason.");
};

/// Compares two documents of cow. `old_path` and `new_path` are the paths of their files.
CowComparison compare_cow_files(const cow::Cow& before, const std::string& old_path, const cow::Cow& after,
                                const std::string& new_path);
Answer cow_answer(const CowComparison& comparison);
exchange::OutcomeList cow_outcomes(const CowComparison& comparison);
/// Runs `zerotax compare` on two files of cow. Throws the same errors as the command.
ExitStatus compare_cow(const Options& options);

}  // namespace zerotax::compare

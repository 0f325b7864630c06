#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "baseline/document.h"
#include "files/document.h"
#include "files/folders.h"
#include "programs_testing.h"

namespace zerotax::baseline {
namespace {

std::vector<Program> baseline_of_one() {
  runs::CommandRun run = run_with();
  run.all[runs::Metric::kRedundant] = NotAvailable{"only small stores"};
  add_site(run, record::SiteKind::kCleared, {"load (decoder.cc)", "main (main.cc)"}, runs::SiteNumber::kZeroed, 2,
           200'000, 8);
  Program program = program_of({run, run_with({{runs::Metric::kMinorFaults, 1200}})});
  program.env = {{"A", "1"}};
  program.exit_status = 3;
  program.measured_on = {"6.1", "madvise", "glibc 2.36", "fixed layout", "glibc 2.36", "2", "4096", "1"};
  return {program};
}

class Documents : public ::testing::Test {
 protected:
  std::string write(const Json& json) {
    std::string path = folder_.file("baseline.json");
    std::ofstream(path) << json_text(json);
    return path;
  }
  TemporaryFolder folder_{"test"};
};

TEST_F(Documents, ReadBackWhatWasWritten) {
  const Json json = document_of(Programs{baseline_of_one()});
  const std::vector<Program> read = read_programs(write(json));
  EXPECT_EQ(document_of(Programs{read}), json);
  EXPECT_EQ(*read[0].metrics[runs::Metric::kMinorFaults], (Range{1000, 1200}));
  EXPECT_EQ(read[0].sites.begin()->second.place.line, 8);
}

TEST_F(Documents, ThatAreDamagedAreRefused) {
  const Json good = document_of(Programs{baseline_of_one()});
  std::vector<Json> bad(6, good);
  bad[0]["schema"] = "zerotax.baseline/1";
  bad[1]["programs"][0].erase("metrics");
  bad[2]["programs"][0]["metrics"]["minor_faults"]["low"] = 5000;
  bad[3]["programs"].push_back(good["programs"][0]);
  bad[4]["programs"][0]["sites"][0]["kind"] = "valloc";
  bad[5]["programs"] = Json::array();
  for (const Json& json : bad) EXPECT_THROW(read_programs(write(json)), UsageError) << json.dump().substr(0, 80);
}

}  // namespace
}  // namespace zerotax::baseline

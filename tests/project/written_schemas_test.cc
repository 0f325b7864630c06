// The committed schemas match the structs of the results. After a struct changed, ZEROTAX_WRITE=1
// build/tests/project_tests writes the schemas again.
#include "advise/result.h"
#include "field_schema.h"
#include "profile/result.h"
#include "replay/result.h"
#include "top/result.h"

namespace zerotax {
namespace {

TEST(WrittenSchemas, AreWhatTheStructsOfTheResultsSay) {
  expect_schema<advise::AdviceResult>("advise");
  expect_schema<advise::SelfTest>("advise_self_test");
  expect_schema<record::CallsAbout>("calls");
  expect_schema<profile::Profile>("profile");
  expect_schema<record::Record>("record");
  expect_schema<replay::Replay>("replay");
  expect_schema<top::Sample>("top");
  expect_schema<replay::Workloads>("workloads");
}

}  // namespace
}  // namespace zerotax

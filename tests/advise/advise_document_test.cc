#include <gtest/gtest.h>

#include "advise/document.h"
#include "round_trips.h"

namespace zerotax::advise {
namespace {

TEST(AdviseDocument, OfEveryCommittedRunComesBackByteForByte) {
  expect_round_trips("zerotax.advise/1", [](const Json& json) { return advise_json(read_advise(json)); });
}

}  // namespace
}  // namespace zerotax::advise

#include <gtest/gtest.h>

#include <functional>

#include "advise/advice.h"
#include "advise/result.h"
#include "round_trips.h"
#include "simulated_program.h"

namespace zerotax::advise {
namespace {

TEST(AdviseDocument, OfEveryCommittedRunComesBackByteForByte) {
  expect_round_trips("zerotax.advise/1", [](const Json& json) { return advise_json(read_advise(json)); });
}

/// Returns the recommendation for a program on which the remedies have these effects. The remedy "two" needs two
/// settings.
Json recommended(std::vector<Effect> effects) {
  Advice advice;
  advice.request.target.words = {"program"};
  for (const char* name : {"one", "two", "other"}) {
    Remedy remedy;
    remedy.name = name;
    remedy.env = {{"KEY", name}};
    if (remedy.name == "two") remedy.env["SECOND"] = "1";
    advice.catalogue.remedies.push_back(remedy);
  }
  constexpr double kNoise = 0.002;
  constexpr std::uint64_t kSeed = 5;
  SimulatedProgram program(std::move(effects), kNoise, kSeed);
  advice.result = search_remedies(candidates_of(advice.catalogue.remedies), {}, std::ref(program));
  advice.complete = true;
  const Json document = advise_json(advice_result(advice));
  EXPECT_EQ(advise_json(read_advise(document)), document);
  return document.at("recommendation");
}

TEST(AdviseDocument, SaysWhyARemedyIsRecommendedThoughAnotherTookLess) {
  const Json found = recommended({{0.31}, {0.30}, {1}});
  EXPECT_EQ(found.at("remedy"), "one") << found;
  const std::string why = found.at("why");
  EXPECT_NE(why.find("Reason for this choice: 1 remedy took less in few runs, two the least (0.3"), std::string::npos)
      << why;
  EXPECT_NE(why.find("or 3 % of the unchanged program. The recommended remedy needs"), std::string::npos) << why;
}

TEST(AdviseDocument, SaysNothingOfOthersWhereTheRecommendedRemedyTookLeast) {
  const Json found = recommended({{1}, {1}, {0.4}});
  EXPECT_EQ(found.at("remedy"), "other") << found;
  EXPECT_FALSE(found.contains("why")) << found;
}

}  // namespace
}  // namespace zerotax::advise

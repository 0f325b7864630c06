#include "history/job.h"

namespace zerotax::history {

Json to_json(const BisectJob& job) {
  const Question& question = job.question;
  Json json;
  json["repository"] = job.repository;
  json["cache"] = job.cache;
  json["recipe"] = job.recipe.json();
  json["jobs"] = job.jobs;
  json["build_timeout_s"] = job.build_timeout_s;
  json["timeout_s"] = question.grid.timeout_s;
  json["expect"] = question.expect ? Json(question.expect->text()) : Json(nullptr);
  json["place"] = {{"case", question.place.case_name},
                   {"size_bytes", question.place.size_bytes},
                   {"touch", question.place.touch},
                   {"thread", question.place.thread},
                   {"last_bytes", question.place.last_bytes}};
  json["grid"] = question.grid.json();
  json["good"] = question.good.id;
  json["owner"] = job.owner;
  json["steps"] = job.steps;
  return json;
}

BisectJob job_from_json(const Json& json) {
  BisectJob job;
  job.repository = json.at("repository");
  job.cache = json.at("cache");
  job.recipe = recipe_from_json(json.at("recipe"));
  job.jobs = json.at("jobs");
  job.build_timeout_s = json.at("build_timeout_s");
  Question& question = job.question;
  if (!json.at("expect").is_null()) question.expect = Expectation::parse(json.at("expect"));
  const double timeout_s = json.at("timeout_s");
  const Json& place = json.at("place");
  question.place = {place.at("case"), place.at("size_bytes"), place.at("touch"), place.at("thread"),
                    timeout_s,        place.at("last_bytes")};
  question.grid = grid_from_json(json.at("grid"), timeout_s);
  question.good.id = json.at("good");
  job.owner = json.at("owner");
  job.steps = json.at("steps");
  return job;
}

Json to_json(const BisectStep& step) {
  return {{"commit", step.commit.id}, {"answer", word_of(step.answer.kind)}, {"value", step.answer.value}};
}

BisectStep step_from_json(const Json& json) {
  BisectStep step;
  step.commit.id = json.at("commit");
  step.answer = {kind_of_word(json.at("answer")), json.at("value")};
  return step;
}

}  // namespace zerotax::history

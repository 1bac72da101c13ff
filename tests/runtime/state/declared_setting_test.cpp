#include "runtime/state/setting_kinds.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <stdexcept>

using namespace potluck;

namespace {

using text = declared_setting::text_limits;
using whole = declared_setting::whole_limits;
using real = declared_setting::real_limits;

std::string read(const declared_setting& x, const std::string& value) {
  auto result = x.read(value);
  return result ? *result : "! " + result.error();
}

const kind_family& shapes() {
  static const kind_family all{
      "model",
      {"model", "data"},
      {{"square",
        "",
        {{"width", "model", "", whole{1, 9}, "2"},
         {"ink", "data", "", text{3}, "red"}}},
       {"circle",
        "",
        {{"radius", "model", "", real{0, 9, false, true}, "2.5"},
         {"ink", "data", "", text{3}, "red"}}}}};
  return all;
}

run_settings square() {
  run_settings x;
  x.model = "square";
  return x;
}

} // namespace

TEST_CASE("a declared setting reads what is within its limits, in one form") {
  const declared_setting count{"count", "", "", whole{2, 99}};
  CHECK(read(count, "7") == "7");
  CHECK(read(count, "007") == "7");
  CHECK(read(count, "1") == "! count is 1, but must be 2 to 99");
  CHECK(read(count, "100") == "! count is 100, but must be 2 to 99");
  for (auto wrong : {"", "-7", "+7", "7.5", " 7", "7 ", "0x7", "seven",
                     "18446744073709551616"})
    CHECK(read(count, wrong) == "! count must be a whole number, 2 to 99");
  const declared_setting rate{"rate", "", "", real{0, 1, false, true}};
  CHECK(read(rate, "1e-3") == "0.001");
  CHECK(read(rate, "1.") == "1");
  CHECK(read(rate, "0")
        == "! rate is 0, but must be more than 0 and at most 1");
  CHECK(read(rate, "1.01").find("! rate is 1.01") == 0);
  CHECK(read(rate, "nan").find("! rate is nan") == 0);
  CHECK(read(rate, "inf").find("! rate is inf") == 0);
  CHECK(read(rate, "").find("! rate must be a number") == 0);
  const declared_setting name{"name", "", "", text{3}};
  CHECK(read(name, "a =") == "a =");
  for (auto wrong : {"", "four", "a\n", "\x7f", "\xc3\xa4"})
    CHECK(read(name, wrong).find("! name must be 1 to 3 printable") == 0);
  const declared_setting colour{"colour", "", "", text{9, {"red", "blue"}}};
  CHECK(read(colour, "blue") == "blue");
  CHECK(read(colour, "green") == "! colour must be one of red, blue");
}

TEST_CASE("a kind reads its own settings, and no others") {
  auto x = square();
  x.own["model"]["width"] = "7";
  const auto& kind = shapes().kinds.front();
  const kind_settings own{kind, x};
  CHECK(own.whole("width") == 7);
  CHECK(own.text("ink") == "red");
  CHECK_THROWS_AS(own.real("radius"), std::logic_error);
  CHECK_THROWS_AS(own.real("width"), std::logic_error);
  CHECK_THROWS_AS(own.text("steps"), std::logic_error);
}

TEST_CASE("the chosen kind has all of its settings, and nobody else has any") {
  const kind_families all{&shapes()};
  auto x = square();
  CHECK(problem_with(x, all).find("width") != std::string::npos);
  complete(x, all);
  CHECK(problem_with(x, all) == "");
  CHECK(x.own["model"] == own_settings::mapped_type{{"width", "2"}});
  // What has a value keeps it.
  x.own["data"]["ink"] = "sky";
  complete(x, all);
  CHECK(x.own["data"]["ink"] == "sky");
  auto other = x;
  other.model = "circle";
  CHECK(problem_with(other, all) != "");
  complete(other, all);
  CHECK(problem_with(other, all) == "the model circle has no setting width");
  other.own["model"].erase("width");
  CHECK(problem_with(other, all) == "");
  other.model = "cube";
  CHECK(problem_with(other, all) == "model must be one of square, circle");
  // One form each, so that equal runs have equal charters.
  x.own["model"]["width"] = "02";
  CHECK(problem_with(x, all) != "");
}

TEST_CASE("settings are assigned to the kind that is chosen, in any order") {
  const kind_families all{&shapes()};
  run_settings x;
  CHECK(assign(x,
               {{"radius", "3.50"},
                {"steps", "70"},
                {"model", "circle"},
                {"ink", "sky"}},
               all));
  CHECK(x.steps == 70);
  CHECK(x.own["model"]["radius"] == "3.5");
  const auto before = to_table(x);
  const auto refused = assign(x, {{"steps", "71"}, {"width", "3"}}, all);
  REQUIRE_FALSE(refused);
  CHECK(refused.error()
        == "\"width\" is a setting of the model square, and the model is "
           "circle");
  CHECK_FALSE(assign(x, {{"steps", "71"}, {"ink", "black"}}, all));
  CHECK_FALSE(assign(x, {{"steps", "71"}, {"brush", "1"}}, all));
  CHECK(to_table(x) == before);
}

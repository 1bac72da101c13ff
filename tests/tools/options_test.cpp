#include "tools/potluck/options.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

using namespace potluck::cli;

namespace {

command_spec join_spec() {
  return {
      "join",
      "Trains together with others.",
      "potluck join [OPTION]...",
      {{"model", option_kind::text, "albert", "The model's name.", "NAME"},
       {"initial-peer", option_kind::list, "", "Whom to ask first.",
        "HOST:PORT"},
       {"target-batch", option_kind::integer, "256", "Samples a step.",
        "NUMBER"},
       {"learning-rate", option_kind::real, "0.00176", "Its peak.", "NUMBER"},
       {"idle-only", option_kind::flag, "", "Only when nobody works.", ""},
       {"threads", option_kind::integer, "1", "That compute.", "NUMBER",
        between(1, 1024)},
       {"upload", option_kind::real, "1", "Of the line.", "MBIT",
        at_least(0.5)}},
      0,
      {"bootstrap", "monitor"}};
}

/// A parsed command with what it printed.
struct run {
  explicit run(const std::vector<std::string>& words,
               const command_spec& spec = join_spec())
      : parsed(parse_command(spec, words, out, err)) {
  }

  /// The sentence, if it ended with a mistake.
  std::string mistake() const {
    return parsed.exit_code == 2 ? err.str() : "no mistake";
  }

  std::ostringstream out;
  std::ostringstream err;
  parsed_command parsed;
};

/// A configuration file that lives as long as this.
class ini_file {
public:
  explicit ini_file(const std::string& text) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path()
            / ("potluck_options_test_" + std::to_string(::getpid()) + "_"
               + std::to_string(count++) + ".ini");
    std::ofstream{path_} << text;
  }

  ~ini_file() {
    std::filesystem::remove(path_);
  }

  std::string path() const {
    return path_.string();
  }

  /// Parses with this file and further words.
  run with(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), "--config-file=" + path());
    return run{words};
  }

  /// The sentence for the user, without the file's path.
  std::string mistake() const {
    auto text = with().mistake();
    auto at = text.find(path());
    return at == text.npos ? text : text.substr(at + path().size());
  }

private:
  std::filesystem::path path_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

// -- the command line ---------------------------------------------------------

TEST_CASE("without words every option has its default") {
  run r{{}};
  REQUIRE(!r.parsed.exit_code);
  auto& config = r.parsed.config;
  CHECK(config.text("model") == "albert");
  CHECK(config.list("initial-peer").empty());
  CHECK(config.integer("target-batch") == 256);
  CHECK(config.real("learning-rate") == 0.00176);
  CHECK_FALSE(config.flag("idle-only"));
  CHECK_FALSE(config.given("model"));
}

TEST_CASE("a value follows an equals sign or stands in the next word") {
  run r{{"--model=tiny", "--target-batch", "-5", "--learning-rate=1e-3",
         "--idle-only"}};
  REQUIRE(!r.parsed.exit_code);
  auto& config = r.parsed.config;
  CHECK(config.text("model") == "tiny");
  CHECK(config.integer("target-batch") == -5);
  CHECK(config.real("learning-rate") == 1e-3);
  CHECK(config.flag("idle-only"));
  CHECK(config.given("model"));
  CHECK_FALSE(config.given("initial-peer"));
}

TEST_CASE("what was given can be said again, to another process") {
  run first{{"--model=a=b c", "--target-batch=-5", "--learning-rate=1e-3",
             "--idle-only", "--initial-peer=b:1", "--initial-peer=a:2"}};
  const auto words = first.parsed.config.given_words();
  run again{words};
  REQUIRE(!again.parsed.exit_code);
  auto& config = again.parsed.config;
  CHECK(config.given_words() == words);
  CHECK(config.text("model") == "a=b c");
  CHECK(config.integer("target-batch") == -5);
  CHECK(config.real("learning-rate") == 1e-3);
  CHECK(config.flag("idle-only"));
  CHECK(config.list("initial-peer") == std::vector<std::string>{"b:1", "a:2"});
  CHECK(run{{}}.parsed.config.given_words().empty());
}

TEST_CASE("a value may hold equals signs, spaces, or nothing") {
  CHECK(run{{"--model=a=b c"}}.parsed.config.text("model") == "a=b c");
  run empty{{"--model="}};
  CHECK(!empty.parsed.exit_code);
  CHECK(empty.parsed.config.text("model").empty());
}

TEST_CASE("the last of two values counts") {
  CHECK(run{{"--model=a", "--model=b"}}.parsed.config.text("model") == "b");
}

TEST_CASE("a repeated list option collects its values in order") {
  run r{{"--initial-peer=b:1", "--initial-peer", "a:2"}};
  CHECK(r.parsed.config.list("initial-peer")
        == std::vector<std::string>{"b:1", "a:2"});
}

TEST_CASE("a flag can be switched off again") {
  CHECK(run{{"--idle-only=true"}}.parsed.config.flag("idle-only"));
  CHECK_FALSE(run{{"--idle-only", "--idle-only=false"}}.parsed.config.flag(
      "idle-only"));
  CHECK(contains(run{{"--idle-only=perhaps"}}.mistake(), "is a flag"));
}

TEST_CASE("an unknown option is refused with the nearest known one") {
  CHECK(run{{"--taget-batch=1"}}.mistake()
        == "potluck join: there is no option --taget-batch: did you mean "
           "--target-batch?\n");
  CHECK(contains(run{{"--modle", "x"}}.mistake(), "did you mean --model?"));
  CHECK(contains(run{{"--scheduler.max-thread=2"}}.mistake(),
                 "did you mean --scheduler.max-threads?"));
  CHECK(contains(run{{"--xyzzy"}}.mistake(), "see potluck join --help"));
  CHECK(contains(run{{"-x"}}.mistake(), "there is no option -x"));
}

TEST_CASE("a value that is missing or of another kind is refused") {
  CHECK(contains(run{{"--target-batch"}}.mistake(),
                 "needs a value: write --target-batch=NUMBER"));
  CHECK(contains(run{{"--target-batch", "--idle-only"}}.mistake(),
                 "--target-batch needs a value"));
  for (auto bad : {"many", "", "1.5", "7x", "99999999999999999999"})
    CHECK(contains(run{{std::string{"--target-batch="} + bad}}.mistake(),
                   "wants a whole number, not '" + std::string{bad}
                       + "': write for instance --target-batch=256."));
  CHECK(contains(run{{"--learning-rate=fast"}}.mistake(), "wants a number"));
}

TEST_CASE("a number out of its range is refused, wherever it stands") {
  for (auto bad : {"0", "-1", "1025"})
    CHECK(run{{std::string{"--threads="} + bad}}.mistake()
          == "potluck join: --threads must be a number from 1 to 1024.\n");
  CHECK(contains(run{{"--upload=0.25"}}.mistake(),
                 "--upload must be at least 0.5."));
  CHECK(contains(run{{"--upload=nan"}}.mistake(), "must be at least 0.5"));
  for (auto good : {"1", "1024"})
    CHECK_FALSE(run{{std::string{"--threads="} + good}}.parsed.exit_code);
  CHECK(contains(ini_file{"threads=1025\n"}.with().mistake(),
                 "threads must be a number from 1 to 1024"));
}

TEST_CASE("every mistake is one line and ends the program with 2") {
  for (auto word : {"--nothing", "--target-batch=x", "word", "-z",
                    "--config-file=/nowhere/at/all.ini"}) {
    run r{{word}};
    CHECK(r.parsed.exit_code == 2);
    CHECK(r.out.str().empty());
    auto text = r.err.str();
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  }
}

TEST_CASE("a word too many is refused, also before an option") {
  CHECK(contains(run{{"hello"}}.mistake(), "'hello' is one word too many"));
  CHECK(contains(run{{"hello", "--model=x"}}.mistake(), "'hello'"));
}

TEST_CASE("a command that takes words refuses those that are too many, and an "
          "option that there is not first") {
  auto spec = join_spec();
  spec.positionals = 1;
  CHECK(contains(run{{"first", "second"}, spec}.mistake(),
                 "'second' is one word too many"));
  CHECK(contains(run{{"first", "--target", "second"}, spec}.mistake(),
                 "did you mean --target-batch?"));
}

TEST_CASE("options are read behind a positional word too") {
  auto spec = join_spec();
  spec.positionals = 2;
  run r{{"first", "--model=x", "--", "--idle-only"}, spec};
  REQUIRE(!r.parsed.exit_code);
  CHECK(r.parsed.config.text("model") == "x");
  CHECK(r.parsed.config.positionals()
        == std::vector<std::string>{"first", "--idle-only"});
  CHECK_FALSE(r.parsed.config.flag("idle-only"));
}

TEST_CASE("help names every option, and ends the program with 0") {
  for (auto word : {"--help", "-h", "--long-help"}) {
    run r{{word}};
    CHECK(r.parsed.exit_code == 0);
    CHECK(r.err.str().empty());
    auto text = r.out.str();
    for (const auto& option : join_spec().options) {
      CHECK(contains(text, "--" + option.name));
      CHECK(contains(text, option.help));
    }
    CHECK(contains(text, "usage: potluck join [OPTION]..."));
    CHECK(contains(text, "--target-batch=NUMBER"));
    CHECK(contains(text, "(default: 256)"));
    CHECK(contains(text, "--scheduler.max-threads")
          == (std::string{word} == "--long-help"));
  }
}

TEST_CASE("a getter refuses a name or a kind that was not described") {
  run r{{}};
  CHECK_THROWS_AS(r.parsed.config.text("nothing"), std::logic_error);
  CHECK_THROWS_AS(r.parsed.config.text("target-batch"), std::logic_error);
  CHECK_THROWS_AS(r.parsed.config.given("nothing"), std::logic_error);
}

TEST_CASE("a default that is not of its kind is a mistake of the programmer") {
  auto spec = join_spec();
  spec.options[2].default_text = "many";
  CHECK_THROWS_AS(command_line{spec}, std::logic_error);
}

// -- CAF's own options --------------------------------------------------------

TEST_CASE("CAF's options reach the actor system, with and without caf#") {
  for (auto word :
       {"--scheduler.max-threads=3", "--caf#scheduler.max-threads=3"}) {
    run r{{word, "--model=x"}};
    REQUIRE(!r.parsed.exit_code);
    CHECK(
        caf::get_or(r.parsed.config, "scheduler.max-threads", std::uint64_t{0})
        == 3);
    CHECK(r.parsed.config.text("model") == "x");
  }
  run spaced{{"--scheduler.max-threads", "3"}};
  CHECK(caf::get_or(spaced.parsed.config, "scheduler.max-threads",
                    std::uint64_t{0})
        == 3);
  CHECK(contains(run{{"--scheduler.max-threads=two"}}.mistake(),
                 "wants a uint64"));
  CHECK(contains(run{{"--caf.scheduler.max-threads=2"}}.mistake(),
                 "syntax of CAF 0.18: write --scheduler.max-threads."));
}

TEST_CASE("an actor system starts from the parsed command") {
  run r{{"--scheduler.max-threads=1", "--target-batch=8"}};
  REQUIRE(!r.parsed.exit_code);
  auto moved = std::move(r.parsed);
  caf::actor_system system{moved.config};
  CHECK(system.scheduler().num_workers() == 1);
  CHECK(caf::get_or(system.config(), "target-batch", std::int64_t{0}) == 8);
}

TEST_CASE("what caf-run passes to a slave and to the master is understood") {
  run slave{{"--caf#slave-mode", "--caf#slave-name=east",
             "--caf#bootstrap-node=10.0.0.1/4000,10.0.0.2/4000"}};
  REQUIRE(!slave.parsed.exit_code);
  const auto& launch = slave.parsed.config.launch();
  CHECK(launch.slave_mode);
  CHECK(launch.slave_name == "east");
  CHECK(launch.bootstrap_nodes
        == std::vector<std::string>{"10.0.0.1/4000", "10.0.0.2/4000"});
  run master{{"--caf#slave-nodes=east/1,west/2"}};
  CHECK_FALSE(master.parsed.config.launch().slave_mode);
  CHECK(master.parsed.config.launch().slave_nodes
        == std::vector<std::string>{"east/1", "west/2"});
  CHECK(contains(run{{"--caf#slave-name"}}.mistake(), "needs a value"));
  CHECK(contains(run{{"--slave-mode"}}.mistake(),
                 "did you mean --caf#slave-mode?"));
  // CAF's own field starts an unfinished stub when it is set.
  CHECK_FALSE(slave.parsed.config.slave_mode);
}

// -- the configuration file ---------------------------------------------------

TEST_CASE("every option can stand in the file") {
  ini_file file{"; a comment\n"
                "model=\"tiny\"\n"
                "initial-peer=[\"a:1\", \"b:2\"]\r\n"
                "target-batch = 64 ; another\n"
                "learning-rate=1\n"
                "idle-only=true\n"
                "[scheduler]\nmax-threads=2\n"};
  auto r = file.with();
  REQUIRE(r.err.str() == "");
  REQUIRE(!r.parsed.exit_code);
  auto& config = r.parsed.config;
  CHECK(config.text("model") == "tiny");
  CHECK(config.list("initial-peer") == std::vector<std::string>{"a:1", "b:2"});
  CHECK(config.integer("target-batch") == 64);
  CHECK(config.real("learning-rate") == 1.0);
  CHECK(config.flag("idle-only"));
  CHECK(config.given("model"));
  CHECK(caf::get_or(config, "scheduler.max-threads", std::uint64_t{0}) == 2);
}

TEST_CASE("the command line beats the section, and the section the top") {
  ini_file file{"target-batch=1\nmodel=\"top\"\nlearning-rate=1.0\n"
                "initial-peer=\"a:1\"\n"
                "[join]\ntarget-batch=2\nmodel=\"section\"\n"};
  auto r = file.with(
      {"--target-batch=3", "--initial-peer=b:2", "--initial-peer=c:3"});
  REQUIRE(!r.parsed.exit_code);
  auto& config = r.parsed.config;
  CHECK(config.integer("target-batch") == 3);
  CHECK(config.text("model") == "section");
  CHECK(config.real("learning-rate") == 1.0);
  CHECK(config.list("initial-peer") == std::vector<std::string>{"b:2", "c:3"});
  CHECK(caf::get_or(config, "target-batch", std::int64_t{0}) == 3);
}

TEST_CASE("the command line beats CAF's section of the file") {
  ini_file file{"[scheduler]\nmax-threads=2\n"};
  auto r = file.with({"--scheduler.max-threads=5"});
  CHECK(caf::get_or(r.parsed.config, "scheduler.max-threads", std::uint64_t{0})
        == 5);
}

TEST_CASE("sections of other subcommands are left alone") {
  ini_file file{"[monitor]\nwhatever=1\n[join]\nmodel=\"x\"\n"};
  CHECK(file.with().parsed.config.text("model") == "x");
}

TEST_CASE("a wrong type in the file is refused, which CAF would ignore") {
  CHECK(ini_file{"\ntarget-batch=\"many\"\n"}.mistake()
        == " line 2: 'target-batch' wants a whole number, as in "
           "target-batch=1, not \"many\".\n");
  CHECK(contains(ini_file{"target-batch=1.5\n"}.mistake(), "whole number"));
  CHECK(contains(ini_file{"model=[7]\n"}.mistake(), "wants text"));
  CHECK(contains(ini_file{"model=7s\n"}.mistake(), "wants text"));
  CHECK(contains(ini_file{"model='albert'\n"}.mistake(),
                 "as in model=\"words\", not 'albert'"));
  CHECK(contains(ini_file{"initial-peer=[1]\n"}.mistake(), "list of texts"));
  CHECK(contains(ini_file{"idle-only=1\n"}.mistake(), "true or false"));
  CHECK(contains(ini_file{"learning-rate=true\n"}.mistake(), "a number"));
  CHECK(contains(ini_file{"[join]\n\ntarget-batch=true\n"}.mistake(),
                 " line 3: 'target-batch'"));
  CHECK(contains(ini_file{"[scheduler]\nmax-threads=\"two\"\n"}.mistake(),
                 " line 2: 'max-threads' of [scheduler] wants a uint64"));
}

TEST_CASE("text that looks like a number needs no quotes") {
  for (std::string word : {"7", "-0.00176", "1e-3", "true", "007"}) {
    ini_file file{"model = " + word + " ; as it stands\n"};
    CHECK(file.with().parsed.config.text("model") == word);
  }
}

TEST_CASE("an unknown key or section of the file is refused") {
  CHECK(ini_file{"model=\"x\"\ntaget-batch=1\n"}.mistake()
        == " line 2: there is no option 'taget-batch': did you mean "
           "'target-batch'?\n");
  CHECK(contains(ini_file{"[jion]\nmodel=\"x\"\n"}.mistake(),
                 "there is no section 'jion': did you mean 'join'?"));
  CHECK(contains(ini_file{"[schedular]\nmax-threads=2\n"}.mistake(),
                 "did you mean 'scheduler'?"));
  CHECK(contains(ini_file{"[scheduler]\nmax-thread=2\n"}.mistake(),
                 "did you mean 'max-threads'?"));
  CHECK(contains(ini_file{"config-file=\"x\"\n"}.mistake(),
                 "has no place in a file"));
}

TEST_CASE("a file in the syntax of CAF 0.18 is refused, which CAF ignores") {
  for (auto text :
       {"caf {\n  scheduler {\n    max-threads = 2\n  }\n}\n",
        "caf.scheduler.max-threads=2\n", "[caf.scheduler]\nmax-threads=2\n"})
    CHECK(contains(ini_file{text}.mistake(),
                   " line 1: this is the syntax of CAF 0.18"));
}

TEST_CASE("of two equal keys CAF takes the first: they are refused") {
  CHECK(contains(ini_file{"model=\"a\"\n\nmodel=\"b\"\n"}.mistake(),
                 " line 3: 'model' stands on line 1 already"));
  CHECK(contains(ini_file{"model=\"a\"\n[join]\nmodel=\"b\"\n"}.mistake(),
                 "no mistake"));
}

TEST_CASE("a line that cannot be read is named with what it lacks") {
  CHECK(ini_file{"idle-only=true\nmodel=albert\n"}.mistake()
        == " line 2: this cannot be read: text stands in double quotes, as in "
           "model=\"albert\".\n");
  CHECK(contains(ini_file{"# hello\n"}.mistake(), "comments begin with ';'"));
  CHECK(contains(ini_file{"model: 1\n"}.mistake(), "a line is name=value"));
  CHECK(contains(ini_file{"; first\nmodel=\"x\n"}.mistake(), " line 2: "));
}

TEST_CASE("a value that the file's end cuts off is not dropped silently") {
  for (auto text : {"\nmodel=\"x", "\ninitial-peer=[\"a:1\",\n"})
    CHECK(contains(ini_file{text}.mistake(),
                   " line 2: this value does not end: close its quotes"));
}

TEST_CASE("a list may stretch over lines, and text may hold brackets") {
  ini_file file{"initial-peer=[\n  \"[::1]:1\",\n  \"b:2\"\n]\n"
                "model=\"a [ b { ; \\\" [\"\n"
                "target-batch=8\n"};
  auto r = file.with();
  REQUIRE(r.err.str() == "");
  CHECK(r.parsed.config.list("initial-peer")
        == std::vector<std::string>{"[::1]:1", "b:2"});
  CHECK(r.parsed.config.text("model") == "a [ b { ; \" [");
  CHECK(r.parsed.config.integer("target-batch") == 8);
}

TEST_CASE("a file that is named must be there") {
  CHECK(contains(run{{"--config-file=/nowhere/at/all.ini"}}.mistake(),
                 "cannot read the configuration file '/nowhere/at/all.ini'"));
  CHECK(contains(run{{"--config-file=/"}}.mistake(), "cannot read"));
}

TEST_CASE("the options in effect can be dumped and read again") {
  run first{{"--model=a \"quoted\" name", "--initial-peer=a:1",
             "--target-batch=8", "--idle-only", "--learning-rate=0.25",
             "--scheduler.max-threads=2", "--dump-config"}};
  REQUIRE(first.parsed.exit_code == 0);
  ini_file file{first.out.str()};
  auto second = file.with();
  REQUIRE(second.err.str() == "");
  auto& config = second.parsed.config;
  CHECK(config.text("model") == "a \"quoted\" name");
  CHECK(config.list("initial-peer") == std::vector<std::string>{"a:1"});
  CHECK(config.integer("target-batch") == 8);
  CHECK(config.real("learning-rate") == 0.25);
  CHECK(config.flag("idle-only"));
  CHECK(caf::get_or(config, "scheduler.max-threads", std::uint64_t{0}) == 2);
}

TEST_CASE("a number is the same in the file and on the command line") {
  for (std::string digits : {"0.00176", "0.1", "1.7600000000000001e-05",
                             "3.0000000000000004e-1", "-2.5e3", "7"}) {
    run r{{"--learning-rate=" + digits}};
    ini_file file{"learning-rate = " + digits + " ; peak\n"};
    CHECK(file.with().parsed.config.real("learning-rate")
          == r.parsed.config.real("learning-rate"));
  }
}

TEST_CASE("a line that no person wrote is refused, whatever is in it") {
  // A line of this length was one call deeper for each of its characters.
  for (auto begin : {"model=\"", "[", "a b c ", "initial-peer=[\"a\", \""}) {
    CAPTURE(begin);
    ini_file file{"threads=2\n" + (begin + std::string(1 << 20, 'a')) + "\n"};
    CHECK(contains(file.mistake(), "line 2: this line is too long"));
  }
  ini_file file{"model=\"" + std::string(4000, 'a') + "\"\n"};
  CHECK(file.with().parsed.config.text("model").size() == 4000);
}

TEST_CASE("the dump keeps small numbers exactly") {
  run first{{"--learning-rate=1.7600000000000001e-05", "--dump-config"}};
  ini_file file{first.out.str()};
  CHECK(file.with().parsed.config.real("learning-rate")
        == 1.7600000000000001e-05);
}

namespace {

/// A command whose option `shape` chooses which others there are.
command_spec spec_of_shapes() {
  command_spec x;
  x.name = "draw";
  x.usage = "potluck draw [OPTION]...";
  x.options = {
      {"shape", option_kind::text, "square", "What to draw.", "NAME"},
      {"width",
       option_kind::text,
       "2",
       "Its width.",
       "CM",
       {},
       option_condition{"shape", {"square", "line"}}},
      {"ink",
       option_kind::text,
       "red",
       "Its ink.",
       "NAME",
       {},
       option_condition{"shape", {"square"}}},
      {"ink",
       option_kind::text,
       "blue",
       "The ink of it.",
       "NAME",
       {},
       option_condition{"shape", {"circle"}}},
      {"depth",
       option_kind::text,
       "1",
       "How deep it lies.",
       "CM",
       {},
       option_condition{"shape", {"cube", "*.obj"}}},
  };
  return x;
}

struct drawn {
  std::string out, err;
  parsed_command parsed;

  explicit drawn(const std::vector<std::string>& words) : parsed(parse(words)) {
  }

  parsed_command parse(const std::vector<std::string>& words) {
    std::ostringstream to_out, to_err;
    auto result = parse_command(spec_of_shapes(), words, to_out, to_err);
    out = to_out.str();
    err = to_err.str();
    return result;
  }
};

} // namespace

TEST_CASE("an option is there where the choice that it belongs to is made") {
  drawn usual{{"--width=3"}};
  REQUIRE_FALSE(usual.parsed.exit_code);
  CHECK(usual.parsed.config.text("width") == "3");
  CHECK(usual.parsed.config.text("ink") == "red");
  drawn circle{{"--shape", "circle"}};
  REQUIRE_FALSE(circle.parsed.exit_code);
  CHECK(circle.parsed.config.text("ink") == "blue");
  CHECK_FALSE(circle.parsed.config.given("ink"));
  drawn misplaced{{"--width=3", "--shape=circle"}};
  CHECK(misplaced.parsed.exit_code == 2);
  CHECK(misplaced.err
        == "potluck draw: --width goes with --shape=square or line, and shape "
           "is circle: change the one, or leave --width out.\n");
}

TEST_CASE("a choice may be a file, which its path's end tells") {
  drawn file{{"--shape=a/b.obj", "--depth=4"}};
  REQUIRE_FALSE(file.parsed.exit_code);
  CHECK(file.parsed.config.text("depth") == "4");
  for (auto other : {"--shape=obj", "--shape=.obj", "--shape=b.obj.gz"})
    CHECK(drawn{{other, "--depth=4"}}.parsed.exit_code == 2);
}

TEST_CASE("help shows the options of what is chosen beside it") {
  drawn usual{{"--help"}};
  CHECK(usual.parsed.exit_code == 0);
  CHECK(usual.out.find("options with --shape=square") != std::string::npos);
  CHECK(usual.out.find("--width") != std::string::npos);
  CHECK(usual.out.find("Its ink. (default: red)") != std::string::npos);
  drawn circle{{"--help", "--shape=circle"}};
  CHECK(circle.out.find("--width") == std::string::npos);
  CHECK(circle.out.find("The ink of it. (default: blue)") != std::string::npos);
  drawn dumped{{"--dump-config", "--shape=circle"}};
  CHECK(dumped.out.find("width") == std::string::npos);
  CHECK(dumped.out.find("ink=\"blue\"") != std::string::npos);
}

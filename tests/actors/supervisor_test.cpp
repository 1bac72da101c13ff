#include "actors/supervisor.hpp"
#include "runtime/membership/restart_budget.hpp"

#include <doctest/doctest.h>

#include "tests/support/test_world.hpp"

using namespace potluck;

namespace {

/// A supervising actor with children that do nothing, and what it saw.
struct family {
  explicit family(std::vector<std::string> all, std::string alone = "") {
    parent = system.keep((*system).spawn(
        [this, alone](caf::event_based_actor* self,
                      const std::vector<std::string>& names) -> caf::behavior {
          children = std::make_unique<supervisor>(self);
          self->set_down_handler([this, self](caf::down_msg& x) {
            if (stopping) {
              children->forget(x);
              return;
            }
            std::string name;
            auto now = self->clock().now();
            verdicts.push_back(children->on_down(x, now, name));
            ended.push_back(name);
          });
          for (auto& name : names)
            children->add({name,
                           [this, self, name] {
                             started.push_back(name);
                             auto child = self->spawn(idle, name);
                             alive[name] = child;
                             ++running;
                             child->attach_functor([this] { --running; });
                             return child;
                           },
                           name == alone ? child_spec::policy::one_for_one
                                         : child_spec::policy::rest_for_one});
          return {
              [this](int n) { n == 0 ? children->stop() : children->kill(); }};
        },
        std::move(all)));
    system.run();
  }

  ~family() {
    for (auto& [name, child] : alive)
      system.keep(child);
  }

  static caf::behavior idle(caf::event_based_actor* self, const std::string&) {
    return {[self](int) { self->quit(); }};
  }

  void end(const std::string& name, caf::exit_reason reason) {
    started.clear();
    caf::anon_send_exit(alive.at(name), reason);
    system.run();
  }

  using names = std::vector<std::string>;
  names started;
  names ended;
  std::vector<supervisor::verdict> verdicts;
  std::map<std::string, caf::actor> alive;
  int running = 0;
  bool stopping = false;
  std::unique_ptr<supervisor> children;
  test_system system; // Ends the actors before what they write to.
  caf::actor parent;
};

} // namespace

TEST_CASE("a child that ends takes the younger ones with it, in order") {
  family f{{"first", "second", "third", "fourth"}};
  auto first = f.alive["first"];
  auto third = f.alive["third"];
  f.end("second", caf::exit_reason::unhandled_exception);
  CHECK(f.started == family::names{"second", "third", "fourth"});
  CHECK(f.ended == family::names{"second"});
  CHECK(f.verdicts
        == std::vector<supervisor::verdict>{supervisor::verdict::restarted});
  CHECK(f.alive["first"] == first);
  CHECK(f.alive["third"] != third);
  CHECK(f.running == 4);
}

TEST_CASE("a child that ends normally is restarted too") {
  family f{{"only"}};
  f.started.clear();
  caf::anon_send(f.alive["only"], 0);
  f.system.run();
  CHECK(f.started == family::names{"only"});
}

TEST_CASE("two children that end at once are both restarted once") {
  family f{{"first", "second", "third"}};
  f.started.clear();
  caf::anon_send_exit(f.alive["third"], caf::exit_reason::kill);
  caf::anon_send_exit(f.alive["first"], caf::exit_reason::kill);
  f.system.run();
  CHECK(f.running == 3);
  // Whichever is noticed first: the eldest was started once.
  CHECK(std::count(f.started.begin(), f.started.end(), "first") == 1);
  CHECK(f.verdicts.back() == supervisor::verdict::restarted);
}

TEST_CASE("a child that keeps failing spends the budget") {
  family f{{"first", "second"}};
  for (std::size_t i = 0; i < limits::restarts; ++i) {
    f.end("second", caf::exit_reason::unhandled_exception);
    CHECK(f.verdicts.back() == supervisor::verdict::restarted);
  }
  f.end("second", caf::exit_reason::unhandled_exception);
  CHECK(f.verdicts.back() == supervisor::verdict::exhausted);
  CHECK(f.ended.back() == "second");
  CHECK(f.started.empty());
  CHECK(f.running == 1);
}

TEST_CASE("the budget grows back with time") {
  family f{{"only"}};
  for (std::size_t i = 0; i < limits::restarts; ++i)
    f.end("only", caf::exit_reason::unhandled_exception);
  f.system.advance(limits::restart_window);
  f.end("only", caf::exit_reason::unhandled_exception);
  CHECK(f.verdicts.back() == supervisor::verdict::restarted);
}

TEST_CASE("stopping ends all children and restarts none") {
  for (int how : {0, 1}) {
    CAPTURE(how);
    family f{{"first", "second", "third"}};
    f.started.clear();
    f.stopping = true;
    caf::anon_send(f.parent, how);
    f.system.run();
    CHECK(f.running == 0);
    CHECK(f.started.empty());
    CHECK(f.children->childless());
    CHECK(f.verdicts.empty());
  }
}

TEST_CASE("a child on which nobody builds is restarted alone") {
  family f{{"first", "second", "third"}, "second"};
  auto third = f.alive["third"];
  f.end("second", caf::exit_reason::unhandled_exception);
  CHECK(f.started == family::names{"second"});
  CHECK(f.alive["third"] == third);
  CHECK(f.running == 3);
  // An elder takes it along.
  f.end("first", caf::exit_reason::unhandled_exception);
  CHECK(f.started == family::names{"first", "second", "third"});
  CHECK(f.running == 3);
}

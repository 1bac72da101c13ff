#include "runtime/sandbox/sandboxed_program.hpp"

#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "runtime/sandbox/lent_memory.hpp"
#include "tests/runtime/sandbox/fake_program.hpp"
#include "tests/support/skip.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using test::fake_request;

namespace {

sandbox_terms terms(const char* how = test::fake_usual) {
  sandbox_terms x;
  x.path = POTLUCK_FAKE_SANDBOXED;
  x.arguments = {"256", "60", how};
  x.greeting = test::fake_greeting;
  x.patience = 60s;
  x.largest_answer = 1 << 20;
  return x;
}

/// A program that has confined itself; none where the kernel does not, which
/// skips the test case.
std::optional<sandboxed_program> started(const sandbox_terms& how = terms()) {
  auto x = sandboxed_program::start(how);
  if (x)
    return std::move(*x);
  REQUIRE_MESSAGE(x.error().find("refuses to confine") != std::string::npos,
                  x.error());
  support::skip(x.error());
  return std::nullopt;
}

sandbox_answer ask(sandboxed_program& who, fake_request what,
                   const std::string& body = "") {
  return who.ask(static_cast<std::uint8_t>(what), body);
}

bool is_gone(pid_t id) {
  return ::kill(id, 0) != 0 && errno == ESRCH;
}

} // namespace

TEST_CASE("a sandboxed program answers, refuses, and ends with its owner") {
  pid_t id = -1;
  {
    auto x = started();
    if (!x)
      return;
    id = x->id();
    for (auto& text :
         {std::string(), std::string("hello"), std::string(1 << 20, 'z')}) {
      const auto got = ask(*x, fake_request::echo, text);
      CHECK(got.how == sandbox_outcome::answered);
      CHECK(got.bytes == text);
    }
    const auto no = ask(*x, fake_request::refuse, "not today");
    CHECK(no.how == sandbox_outcome::refused);
    CHECK(no.bytes == "not today");
    CHECK(ask(*x, fake_request::echo, "still").bytes == "still");
    CHECK_FALSE(is_gone(id));
  }
  CHECK(is_gone(id));
}

TEST_CASE("nothing is left to a confined program but to read and to answer") {
  // Not closed on exec: the program must do it.
  const int file = ::fcntl(STDERR_FILENO, F_DUPFD, 100);
  REQUIRE(file >= 100);
  auto x = started();
  ::close(file);
  if (!x)
    return;
  const auto got = ask(*x, fake_request::try_all);
  CHECK(got.how == sandbox_outcome::answered);
  CHECK(got.bytes == "");
}

TEST_CASE("where code may be made, nothing else may, on older threads either") {
  auto how = terms(test::fake_with_code);
  how.arguments[0] = "1024"; // A thread has addresses of its own.
  const std::string code = "map code\nturn memory into code\n";
  for (auto what : {fake_request::try_all, fake_request::try_thread}) {
    auto x = started(how);
    if (!x)
      return;
    const auto got = ask(*x, what);
    CHECK(got.how == sandbox_outcome::answered);
    CHECK(got.bytes == code);
  }
}

TEST_CASE("lent memory is seen by both, and cannot be taken away") {
  auto memory = lent_memory::make(test::fake_lent_bytes);
  REQUIRE(memory);
  auto how = terms();
  how.lent_memory = memory->descriptor();
  auto x = started(how);
  if (!x)
    return;
  auto* here = static_cast<char*>(memory->data());
  std::strcpy(here, "owner");
  CHECK(ask(*x, fake_request::swap, "guest").bytes == "owner");
  CHECK(std::string(here) == "guest");
  CHECK(ask(*x, fake_request::try_all).bytes == "");
  CHECK(::ftruncate(memory->descriptor(), 0) != 0);
}

TEST_CASE("what is cancelled is ended at once, however patient its owner is") {
  std::atomic<bool> cancelled{false};
  auto x = started();
  if (!x)
    return;
  std::thread user{[&] { cancelled = true; }};
  CHECK(
      x->ask(static_cast<std::uint8_t>(fake_request::spin), "", &cancelled).how
      == sandbox_outcome::crashed);
  user.join();
  CHECK_FALSE(x->is_there());
}

TEST_CASE("memory beyond the limit is refused, and costs the program only") {
  auto x = started();
  if (!x)
    return;
  CHECK(ask(*x, fake_request::allocate, "64").bytes == "64");
  CHECK(ask(*x, fake_request::allocate, "300").how
        == sandbox_outcome::out_of_memory);
  CHECK_FALSE(x->is_there());
}

TEST_CASE("a program that dies says how, and is not asked any more") {
  for (auto& [what, how] : {
           std::pair{fake_request::die, sandbox_outcome::crashed},
           {fake_request::fill_stack, sandbox_outcome::crashed},
           {fake_request::leave, sandbox_outcome::crashed},
           {fake_request::half, sandbox_outcome::crashed},
           {fake_request::babble, sandbox_outcome::nonsense},
           {fake_request::boast, sandbox_outcome::nonsense},
       }) {
    const auto shown = static_cast<int>(what);
    CAPTURE(shown);
    auto x = started();
    if (!x)
      return;
    const auto id = x->id();
    CHECK(ask(*x, what).how == how);
    CHECK_FALSE(x->is_there());
    CHECK(is_gone(id));
    CHECK(ask(*x, fake_request::echo, "hello").how == sandbox_outcome::crashed);
  }
}

TEST_CASE("a program that does not come to an end is ended") {
  auto how = terms();
  how.patience = 200ms;
  for (auto what : {fake_request::spin, fake_request::wait}) {
    auto x = started(how);
    if (!x)
      return;
    const auto id = x->id();
    CHECK(ask(*x, what).how == sandbox_outcome::too_slow);
    CHECK(is_gone(id));
  }
}

TEST_CASE("processor time has a limit, however patient the owner is") {
  auto how = terms();
  how.arguments[1] = "1";
  auto x = started(how);
  if (x)
    CHECK(ask(*x, fake_request::spin).how == sandbox_outcome::too_slow);
}

TEST_CASE("a program dies with the thread that started it") {
  std::optional<sandboxed_program> x;
  std::thread([&] { x = started(); }).join();
  if (x)
    CHECK(ask(*x, fake_request::wait).how == sandbox_outcome::crashed);
}

TEST_CASE("a kernel that refuses the sandbox is told in one sentence") {
  auto x = sandboxed_program::start(terms(test::fake_on_old_kernel));
  REQUIRE_FALSE(x);
  CHECK(x.error().find("refuses to confine") != std::string::npos);
  CHECK(x.error().find("seccomp") != std::string::npos);
}

TEST_CASE("what is no such program is not spoken to") {
  auto other = sandboxed_program::start(terms(test::fake_of_another_build));
  REQUIRE_FALSE(other);
  if (other.error().find("refuses") == std::string::npos)
    CHECK(other.error().find("the same build") != std::string::npos);
  auto how = terms();
  how.path = "/bin/true";
  auto mute = sandboxed_program::start(how);
  REQUIRE_FALSE(mute);
  CHECK(mute.error().find("the same build") != std::string::npos);
  how.path = "/nowhere/to/be/found";
  auto none = sandboxed_program::start(how);
  REQUIRE_FALSE(none);
  CHECK(none.error().find("Cannot start /nowhere") != std::string::npos);
}

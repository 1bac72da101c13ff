/// Strangers that try something 1,000 times a second, from one address and from
/// 32: what it costs the victims, and how newcomers get in meanwhile.
///
/// The attacker is this process; what counts is the victims' own. Each attack
/// lasts `POTLUCK_ATTACK_SECONDS`, else one second and from 32 addresses alone:
/// a minute each takes half an hour, by hand. `POTLUCK_ATTACK` names one. What
/// a busy machine does to others only makes times longer, so an attack that
/// costs too much is tried again: its best counts.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>
#include <unistd.h>

#include "runtime/dht/notary.hpp"
#include "runtime/dht/record_rules.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tests/hostile/stranger.hpp"

using namespace potluck;
using namespace potluck::hostile;

namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t tries_a_second = 1000;
constexpr std::size_t lines_of_an_attack = 32;
/// What an attack may cost: of a core, and bytes. What homes have saved up is
/// spent in the first minute, and costs more.
constexpr double most_cores = 0.2, most_cores_at_first = 0.6;
constexpr auto at_first = 60s;
/// Not even while they spend it, nor on a slow machine.
constexpr double unbearable_cores = 1;
constexpr std::size_t most_growth = std::size_t{150} << 20;
constexpr int most_plays = 3;
/// What a join may take in any case.
constexpr auto usual_entry = 5s;

std::chrono::seconds length_of_an_attack() {
  const auto* text = std::getenv("POTLUCK_ATTACK_SECONDS");
  return std::chrono::seconds{text ? std::max(1, std::atoi(text)) : 1};
}

bool is_by_hand() {
  return std::getenv("POTLUCK_ATTACK_SECONDS") != nullptr;
}

/// Seconds of a core that the process has had.
double work_of(const peer& who) {
  std::ifstream in{"/proc/" + std::to_string(who.process.pid()) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  std::istringstream fields{text.substr(text.rfind(')') + 2)};
  std::string skipped;
  for (int i = 0; i < 11; ++i) // From the third one to the thirteenth.
    fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// A victim before and after.
struct account {
  explicit account(peer& x)
      : who(&x), work(work_of(x)), memory(memory_of(x)), since(steady::now()) {
  }
  /// Cores that it has had since then.
  double cores() const {
    const std::chrono::duration<double> passed = steady::now() - since;
    return (work_of(*who) - work) / passed.count();
  }
  std::size_t growth() const {
    const auto now = memory_of(*who);
    return now - std::min(now, memory);
  }

  peer* who;
  double work;
  std::size_t memory;
  steady::time_point since;
};

std::vector<account> accounts_of(const std::vector<peer*>& all) {
  std::vector<account> result;
  for (auto* x : all)
    result.emplace_back(*x);
  return result;
}

/// One attacker's way to a victim, opened again when it was ended.
class way {
public:
  way(peer& to, std::string from) : to_(to) {
    how_.from = std::move(from);
    how_.patience = std::chrono::milliseconds{2};
  }
  /// Null: it is not taken just now.
  raw_socket* greeted() {
    if (line_ && !line_->ended())
      return line_.get();
    const auto now = steady::now();
    if (now < again_)
      return nullptr;
    again_ = now + 100ms;
    line_
        = std::make_unique<raw_socket>(to_.port(), line::encrypted, key_, how_);
    if (!line_->open()) {
      line_.reset();
      return nullptr;
    }
    line_->write(frame_of(greeting(key_)));
    return line_.get();
  }
  peer_id id() const {
    return key_.id();
  }
  /// One more connection, beside up to 16 of before.
  raw_socket& fresh() {
    auto& place = plain_[next_++ % plain_.size()];
    place = std::make_unique<raw_socket>(to_.port(), line::plain, key_, how_);
    return *place;
  }

private:
  peer& to_;
  raw_socket::manner how_;
  key_pair key_ = key_pair::generate();
  std::unique_ptr<raw_socket> line_;
  std::array<std::unique_ptr<raw_socket>, 16> plain_;
  std::size_t next_ = 0;
  steady::time_point again_{};
};

/// What is tried so often.
struct attack {
  std::string name;
  std::function<void(way&, std::uint64_t number)> once;
};

peer_id any_id(std::uint64_t number) {
  peer_id x;
  for (std::size_t i = 0; i < 8; ++i)
    x.bytes[i] = static_cast<std::uint8_t>(number * 2654435761u >> 4 * i);
  return x;
}

/// Sealed by a key of the attacker's; each names another place.
dht_record invented(std::uint64_t number) {
  static const std::array<key_pair, 8> keys{
      key_pair::generate(), key_pair::generate(), key_pair::generate(),
      key_pair::generate(), key_pair::generate(), key_pair::generate(),
      key_pair::generate(), key_pair::generate()};
  const auto& by = keys[number % keys.size()];
  progress_report said;
  said.id = by.id();
  said.where = {"203.0.113." + std::to_string(number % 256), 7000};
  said.phase = phase::finished;
  notary its{signatures_of(by)};
  its.clocks(wall_clock_ms() + number, wall_clock_ms() + number);
  dht_record x{key_of("run/potluck"), "", encode_progress(said), 15'000,
               record_kind::progress};
  its.seal(x);
  return x;
}

attack says(std::string name,
            std::function<std::string(std::uint64_t number)> what) {
  return {std::move(name), [what = std::move(what)](way& by, std::uint64_t n) {
            if (auto* on = by.greeted())
              on->write(what(n));
          }};
}

/// The first thing that is said in a handshake.
const std::string& first_words() {
  static const auto made = [] {
    const tls_context context{key()};
    tls_channel begins{context, tls_channel::side::dialler, 1000};
    begins.shake();
    byte_array out;
    begins.take_output(out);
    return std::string(out.begin(), out.end());
  }();
  return made;
}

std::vector<attack> all_attacks() {
  return {
      {"idle connections", [](way& by, std::uint64_t) { by.fresh(); }},
      {"handshakes begun",
       [](way& by, std::uint64_t) { by.fresh().write(first_words()); }},
      {"nonsense",
       [](way& by, std::uint64_t) { by.fresh().write(std::string(300, 'x')); }},
      says("malformed frames",
           [](std::uint64_t) { return framed("nonsense", ""); }),
      says("look-ups",
           [](std::uint64_t n) {
             find_records x;
             x.token = n;
             x.key.bytes = any_id(n).bytes;
             return frame_of(x);
           }),
      says("neighbours",
           [](std::uint64_t n) {
             find_nodes x;
             x.token = n;
             x.target.bytes = any_id(n).bytes;
             return frame_of(x);
           }),
      says("invented records",
           [](std::uint64_t n) {
             store_records x;
             x.token = n;
             for (std::size_t i = 0; i < 2; ++i)
               x.records.push_back(invented(2 * n + i));
             return frame_of(x);
           }),
      says("reports of 2^40 samples",
           [](std::uint64_t n) {
             progress_report x;
             x.id = any_id(n);
             x.step = n;
             x.samples = std::uint64_t{1} << 40;
             return frame_of(x);
           }),
      {"reports of its own",
       [](way& by, std::uint64_t n) {
         progress_report x;
         x.id = by.id();
         x.where = {"", 7000};
         x.phase = phase::accumulating;
         x.step = n;
         x.samples = n;
         if (auto* on = by.greeted())
           on->write(frame_of(x));
       }},
      says("states of step 10^9",
           [](std::uint64_t n) {
             return frame_of(state_request{n, 1'000'000'000, {}, false, false});
           }),
      says("histories",
           [](std::uint64_t n) {
             return frame_of(history_request{n, "potluck"});
           }),
      says("charters",
           [](std::uint64_t) { return frame_of(charter_request{}); }),
      says("dials back",
           [](std::uint64_t n) {
             return frame_of(
                 reach_request{static_cast<std::uint16_t>(n), n, false});
           }),
      says("circuits",
           [](std::uint64_t n) {
             return frame_of(circuit_open{
                 static_cast<std::uint32_t>(n), any_id(n), {}, false});
           }),
      says("circuits that do not exist",
           [](std::uint64_t n) {
             return frame_of(
                 circuit_close{static_cast<std::uint32_t>(n), true, ""});
           }),
      says("parts of no round",
           [](std::uint64_t n) {
             chunk_part x;
             x.group.bytes.fill(static_cast<std::uint8_t>(1 + n % 255));
             x.samples = 1;
             return frame_of(x, std::string(4, '\0'));
           }),
      says("heartbeats",
           [](std::uint64_t n) { return frame_of(heartbeat{n}); }),
  };
}

duration entry_of(scene& s, const std::string& name, peer& boot) {
  const auto began = steady::now();
  auto& late = s.join(name, {"--peer", boot.address()});
  late.await("step");
  const auto took = steady::now() - began;
  late.process.signal(SIGKILL);
  return took;
}

/// @returns Whether it cost little time, and the newcomer came in.
bool play(scene& s, const attack& x, std::size_t addresses,
          const std::vector<peer*>& victims, duration alone) {
  std::vector<std::unique_ptr<way>> ways;
  for (auto* victim : victims)
    for (std::size_t i = 0; i < lines_of_an_attack; ++i)
      ways.push_back(std::make_unique<way>(
          *victim, "127.7." + std::to_string(i % addresses) + ".1"));
  // What they cost anyway.
  std::vector<double> usual;
  {
    const auto before = accounts_of(victims);
    std::this_thread::sleep_for(std::min(length_of_an_attack(), 5s));
    for (const auto& victim : before)
      usual.push_back(victim.cores());
  }
  for (auto& by : ways)
    by->greeted();
  const auto under = accounts_of(victims);
  std::atomic<bool> over{false};
  std::size_t tries = 0;
  const auto began = steady::now();
  std::thread attacker{[&] {
    for (std::uint64_t n = 0; !over; ++n) {
      for (std::size_t i = 0; i < victims.size(); ++i)
        x.once(*ways[i * lines_of_an_attack + n % lines_of_an_attack], n);
      ++tries;
      std::this_thread::sleep_until(
          began + n * std::chrono::nanoseconds{1'000'000'000 / tries_a_second});
    }
  }};
  static int newcomers = 0;
  const auto took
      = entry_of(s, "late-" + std::to_string(++newcomers), *victims.front());
  std::this_thread::sleep_until(began + length_of_an_attack());
  std::vector<double> cores;
  for (const auto& victim : under)
    cores.push_back(victim.cores());
  over = true;
  attacker.join();
  const std::chrono::duration<double> lasted = steady::now() - began;
  const std::chrono::duration<double> entry = took;
  bool bearable = took <= std::max<duration>(2 * alone, usual_entry);
  for (std::size_t i = 0; i < victims.size(); ++i) {
    const auto more = cores[i] - usual[i];
    MESSAGE(x.name << ", " << addresses << " addresses, victim " << i << ": "
                   << static_cast<double>(tries) / lasted.count()
                   << " tries/s, " << more << " of a core, "
                   << under[i].growth() / 1'000'000 << " MB, a newcomer after "
                   << entry.count() << " s");
    CHECK(victims[i]->process.running());
    CHECK(under[i].growth() < most_growth);
    CHECK(more < unbearable_cores);
    bearable
        = bearable
          && more <= (lasted < at_first ? most_cores_at_first : most_cores);
  }
  return bearable;
}

} // namespace

TEST_CASE("1,000 tries a second cost little, and keep no newcomer out") {
  scene s;
  auto& boot = s.bootstrap();
  auto& a
      = s.join("a", tiny_run(4096, 1000000) + words{"--peer", boot.address()});
  a.await("step");
  auto& helper
      = s.join("helper", {"--role", "auxiliary", "--peer", boot.address()});
  helper.address();
  const auto alone = entry_of(s, "first", boot);
  allow_many_sockets();
  const auto* chosen = std::getenv("POTLUCK_ATTACK");
  for (const auto& x : all_attacks())
    for (std::size_t addresses : {32, 1})
      if ((addresses > 1 || is_by_hand())
          && (chosen == nullptr || x.name == chosen)) {
        CAPTURE(x.name);
        bool bearable = false;
        for (int i = 0; i < most_plays && !bearable; ++i)
          bearable = play(s, x, addresses, {&boot, &helper}, alone);
        CHECK(bearable);
      }
  a.await_step(a.last_step() + 2);
}

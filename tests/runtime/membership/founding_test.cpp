#include "runtime/membership/founding.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"
#include "runtime/random.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

/// What a peer with this number would found.
charter charter_by(std::uint8_t number) {
  return tiny_charter(10, 64, number);
}

template <class T>
const T* find(const founding::actions& all) {
  for (auto& x : all)
    if (auto found = std::get_if<T>(&x))
      return found;
  return nullptr;
}

bool asks(const founding::actions& all, const peer_id& whom) {
  return std::any_of(all.begin(), all.end(), [&](auto& x) {
    auto ask = std::get_if<ask_for_charter>(&x);
    return ask && ask->whom == whom;
  });
}

std::string said(const founding::actions& all) {
  auto x = find<say_of_founding>(all);
  return x ? x->sentence : "";
}

/// One peer, number 5, with a line to bootstrap 9.
struct applicant {
  explicit applicant(bool can_found = true, bool alone = false) {
    founding::settings how;
    how.self = peer(5);
    how.run = "soup";
    how.can_found = can_found;
    how.names_others = !alone;
    it = std::make_unique<founding>(how, std::nullopt, now);
    it->begin(now);
    if (!alone)
      it->joined({peer(9), {"nine", 1}}, role::bootstrap, {}, false, now);
  }
  /// Time passes, with a look-up that finds these in every third of a second.
  founding::actions pass(duration time,
                         const std::vector<progress_report>& records = {}) {
    founding::actions all;
    for (auto until = now + time; now < until;) {
      now += 100ms;
      if ((now.time_since_epoch() / 100ms) % 3 == 0) {
        for (auto& x : records) {
          it->heard(x, now);
          if (x.where.port == 0)
            it->left(x.id, false); // "cannot be reached"
        }
        it->looked_up();
      }
      auto more = it->look(now);
      if (asks(more, peer(9)) && bootstrap_answers) {
        auto next = it->answered(peer(9), bootstrap_has, now);
        more.insert(more.end(), next.begin(), next.end());
      }
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
  static progress_report record(std::uint8_t number, const charter& has,
                                std::uint16_t port = 0) {
    progress_report x;
    x.id = peer(number);
    x.where = {"elsewhere", port};
    x.charter = has.digest();
    return x;
  }

  time_point now{1h};
  std::unique_ptr<founding> it;
  bool bootstrap_answers = true;
  std::string bootstrap_has;
};

} // namespace

TEST_CASE("a founder that cannot be reached is a founder") {
  applicant a;
  auto other = a.record(7, charter_by(7));
  auto all = a.pass(run_witnesses::rumour_life - 1s, {other});
  CHECK_FALSE(find<begin_proposal>(all));
  CHECK_FALSE(find<take_charter>(all));
  // Nor one that is founding.
  applicant b;
  other.charter = {};
  other.phase = phase::founding;
  all = b.pass(4min, {other});
  CHECK_FALSE(find<begin_proposal>(all));
  // When its record is dead, it is gone.
  all = b.pass(limits::report_life + 5s);
  CHECK(find<begin_proposal>(all));
  // One that nobody ever meets may be a stranger's lie.
  CHECK(find<begin_proposal>(a.pass(2s, {other})));
}

TEST_CASE("what strangers say keeps nobody from founding for ever") {
  applicant a;
  SUBCASE("one that is connected, and never sends the charter that it names") {
    auto what = role::trainer;
    SUBCASE("a trainer") {
    }
    SUBCASE("a bootstrap") {
      what = role::bootstrap;
    }
    a.it->joined({peer(3), {"three", 1}}, what, charter_by(3).digest(), false,
                 a.now);
    CHECK_FALSE(find<begin_proposal>(a.pass(34s)));
    CHECK(find<begin_proposal>(a.pass(2s)));
    // It is asked on, and is believed when it answers.
    CHECK(asks(a.pass(2min), peer(3)));
    auto all = a.it->answered(peer(3), charter_by(3).to_bytes(), a.now);
    auto later = a.pass(founding::offer_rest + 1s);
    CHECK((find<take_charter>(all) || find<take_charter>(later)));
  }
  SUBCASE("a record of a newcomer that never founds") {
    auto x = a.record(3, charter_by(3));
    x.charter = {};
    CHECK_FALSE(find<begin_proposal>(a.pass(4min, {x})));
    CHECK(find<begin_proposal>(a.pass(2min, {x})));
  }
  SUBCASE("a record against the charter that a bootstrap has") {
    a.bootstrap_has = charter_by(7).to_bytes();
    auto x = a.record(3, charter_by(3));
    CHECK_FALSE(find<take_charter>(a.pass(4min, {x})));
    CHECK(find<take_charter>(a.pass(2min, {x})));
  }
  SUBCASE("a record that the run is over") {
    auto x = a.record(3, charter_by(3));
    x.phase = phase::finished;
    a.pass(1s, {x});
    auto all = a.pass(limits::report_life + 5s);
    CHECK_FALSE(find<give_up_run>(all));
    CHECK(find<begin_proposal>(all));
  }
  SUBCASE("records of so many that a peer with the charter finds no place") {
    for (std::size_t i = 0; i <= run_witnesses::most_others; ++i) {
      auto x = a.record(3, charter_by(3));
      x.id.bytes[1] = static_cast<std::uint8_t>(i);
      x.id.bytes[2] = static_cast<std::uint8_t>(i >> 8);
      a.it->heard(x, a.now);
    }
    a.it->joined({peer(7), {"seven", 1}}, role::trainer, charter_by(7).digest(),
                 false, a.now);
    CHECK(asks(a.pass(1s), peer(7)));
    CHECK(find<take_charter>(
        a.it->answered(peer(7), charter_by(7).to_bytes(), a.now)));
  }
}

TEST_CASE("a peer that is connected may say that the run is over") {
  applicant a;
  auto last = a.record(7, charter_by(7), 1);
  last.phase = phase::finished;
  a.it->joined({peer(7), {"seven", 1}}, role::trainer, last.charter, false,
               a.now);
  a.pass(1s, {last});
  a.it->left(peer(7), true);
  auto all = a.pass(limits::report_life + 5s);
  REQUIRE(find<give_up_run>(all));
  CHECK(find<give_up_run>(all)->sentence.find("has been finished")
        != std::string::npos);
}

TEST_CASE("who waits says for whom and why, more and more rarely") {
  applicant a;
  a.it->reachable(false);
  auto other = a.record(7, charter_by(7));
  CHECK(said(a.pass(4s, {other})).empty());
  CHECK(a.it->waiting().empty());
  auto all = a.pass(4min, {other});
  auto sentence = said(all);
  CAPTURE(sentence);
  CHECK(sentence.find("run 'soup' exists: peer 07000000 has its charter, but "
                      "neither of us can be dialled, and we share no hub")
        == 0);
  CHECK(a.it->waiting() == "waits for peer 07000000");
  auto words = std::count_if(all.begin(), all.end(), [](auto& x) {
    return std::holds_alternative<say_of_founding>(x);
  });
  CHECK(words > 4);
  CHECK(words < 9);
  SUBCASE("a hub that both have is named") {
    a.it->joined({peer(8), {"eight", 1}}, role::auxiliary, {}, true, a.now);
    other.hubs = {{peer(8), {"eight", 1}}};
    CHECK(said(a.pass(2min, {other})).find("the hub that we share")
          != std::string::npos);
  }
  SUBCASE("one that can be dialled is named with its address") {
    other.where.port = 7;
    CHECK(said(a.pass(2min, {other})).find("nobody answers at elsewhere:7")
          != std::string::npos);
  }
  SUBCASE("one that has made the last step says that the run is over") {
    other.phase = phase::finished;
    CHECK(said(a.pass(2min, {other}))
              .find("run 'soup' has been finished, says "
                    "peer 07000000")
          == 0);
  }
  SUBCASE("lost connections are said as well, and nobody founds meanwhile") {
    a.it->left(peer(9), false);
    a.pass(1min); // The record dies.
    all = a.pass(10min);
    CHECK(said(all).find("all connections are lost") == 0);
    CHECK_FALSE(find<begin_proposal>(all));
  }
}

TEST_CASE("a bootstrap gives the charter of a run that nobody can reach") {
  applicant a;
  a.bootstrap_has = charter_by(7).to_bytes();
  SUBCASE("when a record names it, and there is no line for a while") {
    auto other = a.record(7, charter_by(7));
    CHECK_FALSE(find<take_charter>(a.pass(9s, {other})));
    auto all = a.pass(2s, {other});
    REQUIRE(find<take_charter>(all));
    CHECK(find<take_charter>(all)->what.digest() == charter_by(7).digest());
    CHECK_FALSE(find<take_charter>(all)->founded);
  }
  SUBCASE("when the records are known and none names another") {
    auto all = a.pass(12s);
    REQUIRE(find<take_charter>(all));
    CHECK(find<take_charter>(all)->what.digest() == charter_by(7).digest());
  }
  SUBCASE("but not when the records name another") {
    auto all = a.pass(1min, {a.record(7, charter_by(3))});
    CHECK_FALSE(find<take_charter>(all));
    CHECK(said(all).find("a bootstrap offers another charter of run 'soup'")
          == 0);
  }
  SUBCASE("nor when the run is over") {
    auto last = a.record(7, charter_by(7));
    last.phase = phase::finished;
    auto all = a.pass(1s, {last});
    all = a.pass(1min);
    CHECK_FALSE(find<take_charter>(all));
    REQUIRE(find<give_up_run>(all));
    CHECK(find<give_up_run>(all)->sentence.find("has been finished")
          != std::string::npos);
  }
  SUBCASE("nor when it is no charter of this run") {
    run_settings other;
    other.run = "salad";
    a.bootstrap_has = charter{other, ""}.to_bytes();
    auto all = a.pass(5s, {a.record(7, charter_by(7))});
    CHECK_FALSE(find<take_charter>(all));
    CHECK(find<say_of_founding>(all)->what == "wrong charter");
    CHECK_FALSE(asks(a.pass(5min, {a.record(7, charter_by(7))}), peer(9)));
  }
}

TEST_CASE("a bootstrap that never answers delays founding, but not for ever") {
  applicant a;
  a.bootstrap_answers = false;
  CHECK_FALSE(find<begin_proposal>(a.pass(3s)));
  CHECK(find<begin_proposal>(a.pass(5s)));
}

TEST_CASE("a peer that sends another charter than its own counts for nothing") {
  applicant a;
  a.it->joined({peer(7), {"seven", 1}}, role::trainer, charter_by(7).digest(),
               false, a.now);
  auto all = a.pass(200ms);
  REQUIRE(asks(all, peer(7)));
  all = a.it->answered(peer(7), charter_by(8).to_bytes(), a.now);
  CHECK(find<say_of_founding>(all)->what == "wrong charter");
  CHECK_FALSE(asks(a.pass(5min, {a.record(7, charter_by(7), 1)}), peer(7)));
}

TEST_CASE("who knows addresses of an earlier start looks there first") {
  founding::settings how;
  how.self = peer(5);
  how.run = "soup";
  how.can_found = true;
  how.met_others = true;
  time_point now{1h};
  founding it{how, std::nullopt, now};
  it.begin(now);
  CHECK_FALSE(find<begin_proposal>(it.look(now + 1s)));
  SUBCASE("and founds when nobody is there") {
    CHECK(find<begin_proposal>(it.look(now + founding::reunion)));
  }
  SUBCASE("and takes part when somebody is") {
    it.joined({peer(7), {"seven", 1}}, role::trainer, charter_by(7).digest(),
              false, now + 2s);
    CHECK(asks(it.look(now + 6s), peer(7)));
    auto all = it.answered(peer(7), charter_by(7).to_bytes(), now + 6s);
    CHECK(find<take_charter>(all));
  }
}

TEST_CASE("one peer after the other is asked for the charter") {
  applicant a{true, true};
  for (std::uint8_t i = 10; i < 17; ++i)
    a.it->joined({peer(i), {"other", 1}}, role::trainer, charter_by(7).digest(),
                 false, a.now);
  std::set<peer_id> asked;
  const auto note = [&](const founding::actions& all) {
    for (auto& x : all)
      if (auto ask = std::get_if<ask_for_charter>(&x))
        asked.insert(ask->whom);
  };
  note(a.pass(200ms));
  REQUIRE(asked.size() == 1);
  const auto first = *asked.begin();
  SUBCASE("the next one when nothing comes, later each time") {
    note(a.pass(run_witnesses::hedge));
    CHECK(asked.size() == 2);
    note(a.pass(run_witnesses::hedge));
    CHECK(asked.size() == 2);
    note(a.pass(run_witnesses::hedge));
    CHECK(asked.size() == 3);
    note(a.pass(20s)); // In the end all.
    CHECK(asked.size() == 7);
  }
  SUBCASE("the next one at once when it lies") {
    note(a.it->answered(first, charter_by(8).to_bytes(), a.now));
    CHECK(asked.size() == 2);
  }
  SUBCASE("the next one at once when it has none") {
    note(a.it->answered(first, "", a.now));
    CHECK(asked.size() == 2);
  }
  SUBCASE("the next one when it leaves") {
    a.it->left(first, true);
    note(a.it->look(a.now));
    CHECK(asked.size() == 2);
  }
  SUBCASE("nobody else when it answers") {
    CHECK(find<take_charter>(
        a.it->answered(first, charter_by(7).to_bytes(), a.now)));
    note(a.pass(20s));
    CHECK(asked.size() == 1);
  }
}

TEST_CASE("a charter is told to those that ask for this run's") {
  founding::settings how;
  how.self = peer(5);
  how.run = "soup";
  founding it{how, charter_by(5), time_point{1h}};
  CHECK(it.answer("") == charter_by(5).to_bytes());
  CHECK(it.answer("soup") == charter_by(5).to_bytes());
  CHECK(it.answer("salad").empty());
}

namespace {

/// Peers that start at about the same time, with one bootstrap that all reach,
/// and lines between some of them.
class crowd {
public:
  explicit crowd(std::uint64_t seed) : random_(seed) {
    auto count = 2 + random_.below(4);
    for (std::size_t i = 0; i < count; ++i)
      peers_.push_back({});
    for (std::size_t i = 0; i < count; ++i) {
      auto& x = peers_[i];
      do
        x.number = static_cast<std::uint8_t>(1 + random_.below(200));
      while (std::any_of(peers_.begin(), peers_.begin() + static_cast<long>(i),
                         [&](auto& y) { return y.number == x.number; }));
      x.open = random_.below(3) == 0;
      in(random_.below(2) ? 3000 : 200, [this, i] { start(i); });
    }
  }

  /// Whether all have one and the same charter, which one of them has founded.
  std::string complaint() {
    for (; !events_.empty() && now_ < time_point{1h + 2min};) {
      auto next = events_.begin();
      now_ = next->first;
      auto call = std::move(next->second);
      events_.erase(next);
      call();
    }
    int founders = 0;
    for (auto& x : peers_) {
      if (!x.it || !x.it->agreed())
        return "a peer has no charter";
      founders += x.founded;
      if (x.it->agreed()->digest() != peers_.front().it->agreed()->digest())
        return "there are two charters";
    }
    return founders == 1 ? "" : std::to_string(founders) + " founders";
  }

private:
  struct member {
    std::uint8_t number = 0;
    bool open = false; ///< Others can dial it.
    std::unique_ptr<founding> it;
    progress_report said;
    bool looking = false;
    bool look_again = false;
    bool founded = false;
  };

  /// Does it within so many milliseconds.
  void in(std::uint64_t most, std::function<void()> what) {
    events_.emplace(now_ + std::chrono::milliseconds{random_.below(most + 1)},
                    std::move(what));
  }
  void after(duration time, std::function<void()> what) {
    events_.emplace(now_ + time, std::move(what));
  }
  bool line(std::size_t a, std::size_t b) const {
    return peers_[a].open || peers_[b].open;
  }

  void start(std::size_t i) {
    auto& x = peers_[i];
    founding::settings how;
    how.self = peer(x.number);
    how.run = "soup";
    how.can_found = true;
    how.names_others = true;
    x.it = std::make_unique<founding>(how, std::nullopt, now_);
    x.it->reachable(x.open);
    carry_out(i, x.it->begin(now_));
    in(200, [this, i] {
      peers_[i].it->joined({peer(250), {"b", 1}}, role::bootstrap, {}, false,
                           now_);
      look(i);
      search(i);
    });
  }
  void look(std::size_t i) {
    carry_out(i, peers_[i].it->look(now_));
    if (!peers_[i].it->over())
      after(100ms, [this, i] { look(i); });
  }
  /// A look-up of the run's records, then the next one.
  void search(std::size_t i) {
    peers_[i].looking = true;
    publish(i);
    in(150, [this, i] {
      auto found = records_;
      in(150, [this, i, found] {
        auto& x = peers_[i];
        for (auto& [id, report] : found) {
          if (id == x.said.id)
            continue;
          x.it->heard(report, now_);
          meet(i, id);
        }
        x.it->looked_up();
        x.looking = false;
        if (x.it->over())
          return;
        if (std::exchange(x.look_again, false))
          search(i);
        else
          after(300ms, [this, i] {
            if (!peers_[i].looking)
              search(i);
          });
      });
    });
  }
  /// Hears of somebody: they connect, or cannot.
  void meet(std::size_t i, const peer_id& id) {
    for (std::size_t j = 0; j < peers_.size(); ++j) {
      if (peer(peers_[j].number) != id)
        continue;
      if (!line(i, j)) {
        peers_[i].it->left(id, false);
        continue;
      }
      in(500, [this, i, j] {
        for (auto [a, b] : {std::pair{i, j}, std::pair{j, i}}) {
          auto& other = peers_[b];
          if (!peers_[a].it)
            continue;
          peers_[a].it->joined({peer(other.number), other.said.where},
                               role::trainer, other.said.charter, false, now_);
          peers_[a].it->heard(other.said, now_);
        }
      });
    }
  }
  void publish(std::size_t i) {
    auto said = peers_[i].said;
    in(300, [this, said] { records_[said.id] = said; });
  }
  void carry_out(std::size_t i, founding::actions all) {
    for (auto& action : all) {
      auto& x = peers_[i];
      if (auto show = std::get_if<show_phase>(&action)) {
        tell(i, show->what, {});
      } else if (std::get_if<begin_proposal>(&action)) {
        in(random_.below(2) ? 5000 : 0, [this, i] {
          carry_out(i,
                    peers_[i].it->proposed(charter_by(peers_[i].number), now_));
        });
      } else if (auto take = std::get_if<take_charter>(&action)) {
        x.founded = take->founded;
        tell(i, phase::joining, take->what.digest());
        keep_publishing(i);
      } else if (auto ask = std::get_if<ask_for_charter>(&action)) {
        in(200, [this, i, whom = ask->whom] {
          auto bytes = charter_of(whom, i);
          in(200, [this, i, whom, bytes] {
            carry_out(i, peers_[i].it->answered(whom, bytes, now_));
          });
        });
      }
    }
  }
  void keep_publishing(std::size_t i) {
    publish(i);
    after(2s, [this, i] { keep_publishing(i); });
  }
  void tell(std::size_t i, potluck::phase what, const digest& has) {
    auto& x = peers_[i];
    x.said.id = peer(x.number);
    x.said.where = {"home", static_cast<std::uint16_t>(x.open ? 1 : 0)};
    x.said.phase = what;
    x.said.charter = has;
    publish(i);
    if (x.looking)
      x.look_again = true;
    for (std::size_t j = 0; j < peers_.size(); ++j)
      if (j != i && line(i, j))
        in(300, [this, j, said = x.said] {
          if (peers_[j].it)
            peers_[j].it->heard(said, now_);
        });
  }
  /// What a peer answers; the bootstrap has what any peer has.
  std::string charter_of(const peer_id& whom, std::size_t asker) {
    for (std::size_t j = 0; j < peers_.size(); ++j) {
      auto& x = peers_[j];
      if (j != asker && x.it && x.it->agreed()
          && (whom == peer(x.number) || whom == peer(250)))
        return x.it->answer("soup");
    }
    return "";
  }

  random_stream random_;
  time_point now_{1h};
  std::multimap<time_point, std::function<void()>> events_;
  std::vector<member> peers_;
  std::map<peer_id, progress_report> records_;
};

} // namespace

TEST_CASE("peers that start together end in one run, whatever comes first") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    crowd all{seed};
    auto complaint = all.complaint();
    INFO("seed " << seed);
    REQUIRE(complaint == "");
  }
}

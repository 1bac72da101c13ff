/// What strangers may say to a whole peer: letters of every kind, sound and
/// bent, in any order, with bodies of their own, over lines that come and go.
///
/// The input is a script. Its first byte says which peer hears them, a trainer,
/// one that a helper helps, that helper or a bootstrap, and whether every
/// signature fits; then it says which letter comes next, by which of two
/// strangers, which of its fields are others, and when time passes. The peer
/// has all of its actors, on the network and the clock of the tests: none may
/// end, and where signatures are looked at, it goes on training. tools/fuzz
/// runs it with libFuzzer, peer_fuzz_test.cpp without.
#include <array>

#include "tests/actors/whole_peer.hpp"
#include "tests/fuzz/input_script.hpp"
#include "tests/fuzz/insist.hpp"
#include "tests/fuzz/trusting_signatures.hpp"
#include "tests/support/talker.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr int most_letters = 300;

/// Children that are started again alone.
const std::vector<std::string> keepers{
    "address_keeper", "amendment_keeper", "history_keeper",  "charter_shelf",
    "hole_maker",     "admission_keeper", "artifact_keeper", "cell"};

/// A script as a source of chance. Behind its end come all numbers in turn, for
/// whoever waits for one of them.
struct script_chance {
  std::uint64_t below(std::uint64_t bound) {
    if (from->over())
      return ++behind % bound;
    return bound > 256 ? from->number() % bound : from->byte() % bound;
  }
  std::uint64_t next() {
    return from->byte();
  }
  input_script* from;
  std::uint64_t behind = 0;
};

using script_scribbler = basic_scribbler<script_chance>;
using script_talker = talker<script_scribbler>;

class scene {
public:
  scene(input_script& script, std::size_t kind)
      : script_(script), trusts_((kind & 4) != 0), trains_(kind % 4 != 3),
        hears_(kind % 4 == 2 ? 2 : 1) {
    start(trains_ ? role::trainer : role::bootstrap, {});
    if (trains_ && kind % 4 != 0)
      start(role::auxiliary, {1});
  }

  /// @returns How many letters were said.
  std::size_t play() {
    insist(goes_on());
    for (int i = 0; i < most_letters && !script_.over(); ++i) {
      const auto how = script_.byte();
      auto& who = strangers_[how % 2];
      if (!who || who->closed)
        come(who);
      who->speak({host(hears_), 1000});
      if (how % 8 < 2)
        world_.run_for(10ms * (1 + how / 8));
    }
    std::size_t said = said_;
    for (auto& x : strangers_)
      if (x) {
        said += x->said;
        x.reset();
      }
    for (const auto& x : peers_) {
      insist(!x->over());
      for (const auto* names : {&trainers_children, &keepers})
        for (const auto& name : *names)
          insist(x->children.starts(name) <= 1);
    }
    insist(trusts_ || goes_on());
    return said;
  }

private:
  void start(role as, std::vector<std::uint8_t> seeds) {
    const auto number = static_cast<std::uint8_t>(peers_.size() + 1);
    auto c = tiny_peer(world_.network, number, std::move(seeds), 1'000'000);
    c.role = as;
    if (as == role::bootstrap)
      c.run.clear();
    if (as != role::trainer) {
      c.make_trainer = nullptr;
      c.propose = nullptr;
    }
    if (trusts_)
      c.signs = std::make_shared<trusting_signatures>(c.self);
    peers_.push_back(std::make_unique<whole_peer>(world_, std::move(c)));
  }
  /// Two steps more.
  bool goes_on() {
    const auto& first = *peers_.front();
    return !trains_
           || world_.run_until(
               [&, last = first.step()] { return first.step() >= last + 2; },
               240s);
  }
  void come(std::unique_ptr<script_talker>& who) {
    if (number_ == 250)
      return;
    if (who)
      said_ += who->said;
    who = std::make_unique<script_talker>(world_, ++number_, words_);
    const auto how = script_.byte();
    constexpr role all[]{role::trainer, role::auxiliary, role::bootstrap};
    who->greeting.role = all[how % 3];
    if (how & 64)
      who->greeting.run.clear();
    if (how & 128)
      who->greeting.listen_port = 0;
  }

  input_script& script_;
  const bool trusts_; ///< Every signature.
  const bool trains_;
  const std::uint8_t hears_; ///< Which of the peers.
  test_world world_;
  script_scribbler words_{script_chance{&script_, 0}};
  std::vector<std::unique_ptr<whole_peer>> peers_;
  std::array<std::unique_ptr<script_talker>, 2> strangers_;
  std::uint8_t number_ = 6; ///< Of the last stranger.
  std::size_t said_ = 0;
};

} // namespace

/// @returns How many letters were said.
std::size_t fuzz_peer(const std::uint8_t* data, std::size_t size) {
  input_script script{data, size};
  const auto kind = script.byte();
  return scene{script, kind}.play();
}

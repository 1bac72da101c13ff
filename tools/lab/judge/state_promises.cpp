#include "tools/lab/judge/state_promises.hpp"

#include <iterator>

namespace potluck {

namespace {

std::string at_step(const teller& who, std::uint64_t step) {
  return who.called() + ", step " + std::to_string(step);
}

} // namespace

// ---- equal states -----------------------------------------------------------

equal_states::equal_states(ledger& all, const terms& run)
    : promise(all, "peers that report one step have one digest"),
      may_give_up_(run.may_give_up), may_part_(run.may_part),
      may_split_(run.expects.may_split) {
}

void equal_states::told(const teller& who, duration at, const event& x) {
  if (may_give_up_)
    remember(who, x);
  const auto step = count_of(x, "step");
  if (x.name == "step" && !text_of(x, "averaged").empty()) {
    redrawn_.insert(step);
  } else if (x.name == "step" || (x.name == "finished" && who.trains)) {
    alone_ += x.name == "step" && count_of(x, "peers") == 1;
    hold(who, at, step, text_of(x, "digest"));
  } else if (x.name == "state_download") {
    hold(who, at, step, text_of(x, "digest"));
  }
}

void equal_states::hold(const teller& who, duration at, std::uint64_t step,
                        const std::string& digest) {
  if (may_give_up_ || redrawn_.count(step) > 0)
    return;
  check(!digest.empty(), at, [&] {
    return who.called() + " logged no digest at step " + std::to_string(step);
  });
  if (digest.empty())
    return;
  auto& held = states_[step];
  const auto fresh = held.emplace(digest, who.called()).second;
  const auto apart = fresh && held.size() > 1;
  if (apart)
    splits_.insert(step);
  check(!apart || may_split_, at, [&] {
    auto other = held.begin();
    if (other->first == digest)
      ++other;
    return at_step(who, step) + ": " + other->second
           + " holds other parameters";
  });
}

void equal_states::remember(const teller& who, const event& x) {
  auto [i, fresh] = index_.emplace(who.peer, lives_.size());
  if (fresh) {
    auto& life = lives_.emplace_back();
    life.name = who.called();
    life.has_gaps = who.has_gaps;
    life.survived = who.survived;
  }
  lives_[i->second].note(x);
}

equal_states::holders
equal_states::not_excused(const std::set<held_step>& lost) const {
  holders held;
  std::set<held_step> survived, certain;
  for (const auto& life : lives_)
    for (const auto& x : life.entries) {
      if (x.held.second.empty() || redrawn_.count(x.held.first) > 0)
        continue;
      held[x.held.first][x.held.second].insert(life.name);
      if (!life.has_gaps)
        certain.insert(x.held);
      if (life.survived)
        survived.insert(x.held);
    }
  for (auto& [step, digests] : held)
    for (auto i = digests.begin(); i != digests.end();) {
      const held_step x{step, i->first};
      // A side of a partition may be killed before it hears of the other, and
      // a full disk may have swallowed that a step was given up.
      const auto excused = lost.count(x) > 0 || certain.count(x) == 0
                           || (may_part_ && survived.count(x) == 0);
      i = excused && digests.size() > 1 ? digests.erase(i) : std::next(i);
    }
  return held;
}

void equal_states::close(duration at) {
  if (!may_give_up_)
    return;
  const auto lost = given_up(lives_);
  given_up_ = lost.size();
  for (const auto& x : not_excused(lost)) {
    const auto& digests = x.second;
    const auto& one = *digests.begin();
    compared_ += digests.size() == 1 && one.second.size() > 1;
    check(digests.size() == 1, at, [&] {
      const auto& other = *std::next(digests.begin());
      return "at step " + std::to_string(x.first) + " " + *one.second.begin()
             + " had " + one.first.substr(0, 8) + " and "
             + *other.second.begin() + " " + other.first.substr(0, 8);
    });
  }
  if (redrawn_.empty())
    check(compared_ > 0 || !problem().empty(), at, [] {
      return "no two peers reported one step, so there is nothing to compare";
    });
}

std::string equal_states::seen() const {
  return counted(compared_, "step") + " compared, "
         + counted(given_up_, "report") + " set aside for longer histories, "
         + counted(alone_, "step") + " taken alone";
}

// ---- rounds -----------------------------------------------------------------

equal_rounds::equal_rounds(ledger& all, const terms& run)
    : promise(all, "the members of a round begin its step with the same "
                   "parameters"),
      must_compare_(run.may_give_up && run.redraws) {
}

void equal_rounds::told(const teller& who, duration at, const event& x) {
  const auto step = count_of(x, "step");
  if (x.name == "round" && text_of(x, "outcome") == "committed") {
    last_[who.peer] = {text_of(x, "group"), step};
  } else if (x.name == "state_download") {
    last_.erase(who.peer);
  } else if (x.name == "step") {
    auto known = last_.find(who.peer);
    if (known == last_.end() || known->second.step != step)
      return;
    const auto averaged = text_of(x, "averaged");
    const auto got = averaged.empty() ? text_of(x, "digest") : averaged;
    auto [round, first] = rounds_.emplace(known->second.group,
                                          std::make_pair(got, who.called()));
    compared_ += !first;
    check(first || round->second.first == got, at, [&, round = round] {
      return at_step(who, step) + ": after the same round "
             + round->second.second + " holds other parameters";
    });
  }
}

void equal_rounds::close(duration at) {
  if (must_compare_)
    check(compared_ > 0, at, [] {
      return "no two peers were in one round, so there is nothing to compare";
    });
}

// ---- checkpoints ------------------------------------------------------------

sound_checkpoints::sound_checkpoints(ledger& all, const terms&)
    : promise(all, "a checkpoint that a peer continues from holds parameters "
                   "that somebody had at its step") {
}

void sound_checkpoints::told(const teller&, duration, const event& x) {
  if (x.name == "step")
    ever_[count_of(x, "step")].insert(text_of(x, "digest"));
}

void sound_checkpoints::resumed(std::size_t peer, duration at,
                                std::uint64_t step, const std::string& digest) {
  auto then = ever_.find(step);
  check(then == ever_.end() || then->second.count(digest) != 0, at, [&] {
    return "peer " + std::to_string(peer)
           + " continues from a checkpoint of step " + std::to_string(step)
           + " with parameters that nobody had";
  });
}

} // namespace potluck

/// What donors may make of somebody who fetches the training state: letters
/// that are sound, bent, repeated and out of their order.
///
/// The input is a script. Each step is a byte that says what happens, and
/// a few that say to whom and with what: donors answer by a true history of
/// three states, or by what the script makes of it; reports come, donors
/// go, the trainer applies or refuses, time passes. tools/fuzz runs it with
/// libFuzzer, joiner_fuzz_test.cpp without.
#include <cstdlib>
#include <map>
#include <set>

#include "runtime/state/pieces.hpp"
#include "runtime/state/state_snapshot.hpp"
#include "tests/fuzz/input_script.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;

namespace {

constexpr std::uint64_t values = 1500; // A state of several pieces.
constexpr std::uint64_t first_step = 10;
constexpr std::size_t donors = 4;
constexpr int most_steps = 600;

/// What all donors would say if they were honest.
struct history {
  history() {
    auto now = state_of(values, first_step);
    for (std::size_t i = 0; i < 3; ++i) {
      states.emplace_back(std::make_shared<training_state>(now));
      const auto before = now.recent.front();
      auto mean = some_mean(values, now.step + 1);
      lay_on(now, *mean);
      means.push_back({now.step, 64, now.history_samples, before,
                       now.recent.front(), std::move(mean)});
    }
  }
  std::vector<state_snapshot> states;
  std::vector<passed_mean> means; ///< Behind each.
};

const history& truth() {
  static const history made;
  return made;
}

class joining {
public:
  explicit joining(input_script& from) : from_(from) {
  }

  /// @returns How many jobs the trainer got.
  std::size_t play() {
    begin();
    for (int i = 0; i < most_steps && !from_.over(); ++i)
      step();
    do_all(joiner_.cancel(now()));
    if (joiner_.busy())
      std::abort();
    return jobs_;
  }

private:
  time_point now() const {
    return time_point{now_};
  }
  peer_id somebody() {
    return id_of(1 + from_.byte() % donors);
  }
  const state_snapshot& state() {
    return truth().states[from_.byte() % truth().states.size()];
  }
  const passed_mean& mean() {
    return truth().means[from_.byte() % truth().means.size()];
  }

  void begin() {
    const auto how = from_.byte();
    fetch_goal goal;
    const auto& at = state();
    goal.step = at.state().step;
    if (how % 8 != 0)
      goal.state = at.digest();
    for (std::size_t i = 1; i <= donors; ++i)
      if (how >> 4 & 1u << (i - 1) || i == 1)
        goal.donors.push_back(id_of(i));
    if (how & 8) {
      goal.own_step = first_step;
      goal.own_state = truth().states[0].digest();
    }
    goal.values = values;
    goal.alone = how % 8 == 7;
    do_all(joiner_.begin(goal, now(), how % 4 == 3 ? id_of(2) : peer_id{}));
  }

  void step() {
    switch (from_.byte() % 10) {
      case 0:
      case 1:
        return manifest(false);
      case 2:
        return manifest(true);
      case 3:
      case 4:
      case 5:
        return piece();
      case 6:
        return do_all(joiner_.heard(
            somebody(), first_step + from_.byte() % 4,
            from_.byte() % 4 ? state().digest() : digest{}, now()));
      case 7:
        return trainer();
      case 8:
        now_ += std::chrono::milliseconds{1 << from_.byte() % 14};
        return do_all(joiner_.look(now()));
      default:
        if (from_.byte() % 4 == 0)
          return do_all(joiner_.lost(somebody(), now()));
        if (!joiner_.busy())
          begin();
    }
  }

  /// An answer to whoever asked last, or to nobody.
  void manifest(bool of_a_mean) {
    const auto who = somebody();
    const auto token = asked_.count(who) ? asked_[who] : from_.byte();
    auto x = of_a_mean ? manifest_of(mean()) : state().manifest(token);
    x.token = token;
    x.available = true;
    switch (from_.byte() % 12) {
      case 0:
        x = {};
        x.token = token;
        x.step = first_step + from_.byte() % 4;
        x.retry_ms = from_.byte() % 2 ? 100 : 0;
        x.offered = first_step + from_.byte() % 4;
        break;
      case 1:
        x.step += from_.byte();
        break;
      case 2:
        x.state.bytes[from_.byte() % 16] ^= 1;
        break;
      case 3:
        if (!x.pieces.empty())
          x.pieces[from_.byte() % x.pieces.size()].bytes[0] ^= 1;
        break;
      case 4:
        x.pieces.resize(from_.byte() % 16);
        break;
      case 5:
        x.bytes += from_.byte() * 4;
        break;
      case 6:
        x.history_samples += from_.byte();
        break;
      default:
        break;
    }
    if (x.available)
      announced_.insert(x.state);
    do_all(joiner_.read(who, x, now()));
  }

  /// Of those that were asked for, or of any.
  void piece() {
    auto who = somebody();
    const auto how = from_.byte();
    state_piece x;
    shared_bytes body;
    if (!wanted_.empty() && how % 8 != 0) {
      const auto& [whom, request] = wanted_[from_.byte() % wanted_.size()];
      who = whom;
      x = {request.state, request.piece, request.mean};
    } else {
      x = {state().digest(), static_cast<std::uint32_t>(from_.byte() % 8),
           (how & 128) != 0};
    }
    if (x.mean) {
      for (const auto& y : truth().means)
        if (y.after == x.state)
          body = piece_of(y, x.piece);
    } else {
      for (const auto& y : truth().states)
        if (y.digest() == x.state)
          body = y.piece(x.piece);
    }
    if (how / 8 % 8 == 0 && body.size > 0) { // A bit flips, or the end is gone.
      auto bent = std::make_shared<std::vector<std::uint8_t>>(
          body.data, body.data + body.size);
      if (how & 64)
        (*bent)[from_.byte() % bent->size()] ^= 4;
      else
        bent->resize(bent->size() / 2);
      const auto* data = bent->data();
      const auto size = bent->size();
      body = {std::move(bent), data, size};
    }
    do_all(joiner_.read(who, x, body, now()));
  }

  void trainer() {
    if (!awaited_)
      return;
    const auto to = *awaited_;
    awaited_.reset();
    if (from_.byte() % 8 == 0)
      return do_all(joiner_.refused("it does not fit", now()));
    auto state = to.second;
    if (from_.byte() % 8 == 0)
      state.bytes[0] ^= 1;
    do_all(joiner_.applied(to.first, state, now()));
  }

  void do_all(state_actions all) {
    for (auto& x : all)
      std::visit([this](auto& y) { act(y); }, x);
  }
  void act(const state_letter& x) {
    if (auto asked = std::get_if<state_request>(&x.content)) {
      asked_[x.to] = asked->token;
    } else if (auto wants = std::get_if<piece_request>(&x.content)) {
      wanted_.emplace_back(x.to, *wants);
      if (wanted_.size() > 64)
        wanted_.erase(wanted_.begin());
    }
  }
  /// Nothing is adopted that nobody has announced, nor what is something else.
  void act(const state_job& x) {
    ++jobs_;
    if (!x.state || x.state->parameters.size() != values)
      std::abort();
    const auto is = digest_of_state(*x.state);
    if (announced_.count(is) == 0)
      std::abort();
    awaited_ = std::pair{x.state->step, is};
  }
  void act(const mean_job& x) {
    ++jobs_;
    if (!x.values || x.values->size() != values || x.samples == 0
        || announced_.count(x.state) == 0)
      std::abort();
    awaited_ = std::pair{x.step, x.state};
  }
  void act(const fetch_result&) {
    if (joiner_.busy())
      std::abort();
  }
  void act(const fetch_failure&) {
    if (joiner_.busy())
      std::abort();
  }
  template <class Other>
  void act(const Other&) {
  }

  input_script& from_;
  duration now_{std::chrono::hours{1}};
  state_joiner joiner_{id_of(200), usual_joiner()};
  std::map<peer_id, std::uint64_t> asked_; ///< Tokens.
  std::vector<std::pair<peer_id, piece_request>> wanted_;
  std::set<digest> announced_;
  std::optional<std::pair<std::uint64_t, digest>> awaited_;
  std::size_t jobs_ = 0;
};

} // namespace

/// @returns How many jobs the trainer got.
std::size_t fuzz_joiner(const std::uint8_t* data, std::size_t size) {
  input_script from{data, size};
  return joining{from}.play();
}

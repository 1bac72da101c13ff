#include "tools/potluck/organiser_visit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/admission/admission.hpp"
#include "runtime/dialable.hpp"
#include "runtime/median.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tools/potluck/visit.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;

/// For a connection, its proof and its hello.
constexpr auto organiser_greeting_patience = 8s;
/// Once somebody has answered, for the others.
constexpr auto others_patience = 2s;
constexpr auto answer_patience = 4s;
/// For trainers' reports, and then for more of them, to see how fast it goes.
constexpr auto report_patience = 6s;
constexpr auto pace_patience = 2s;
constexpr auto delivery_patience = 15s;
constexpr auto again = 300ms;
/// Members that are dialled besides the contacts, and that have to show it.
constexpr std::size_t most_members = 8;
constexpr std::size_t enough_holders = 3;

/// For the visitor's key.
std::string admission_by(const key_pair& organiser, const organiser_plan& to) {
  const auto now = wall_clock_ms();
  const auto life = static_cast<std::uint64_t>(
      std::chrono::milliseconds{limits::token_life}.count());
  return to_bytes(
      issue({id_in(to.run), to.how.key->id(), now, now + life, {}, {}},
            *signatures_of(organiser)));
}

visit::plan plan_of(const organiser_plan& x) {
  visit::plan result;
  result.how = x.how;
  result.as.role = role::auxiliary;
  result.as.run = x.run;
  if (x.organiser)
    result.as.admission = admission_by(*x.organiser, x);
  result.goodbye = "has said what the organiser wants";
  return result;
}

} // namespace

class organiser_visit::conversation : public visit {
public:
  explicit conversation(organiser_plan plan)
      : visit(plan_of(plan)), plan_(std::move(plan)) {
  }

  expected<bool> begin() {
    if (auto bound = listen(plan_.listen); !bound)
      return failure{bound.error()};
    for (const auto& who : plan_.contacts)
      call_on(who);
    wait(organiser_greeting_patience,
         [&] { return count() > 0 || !anything_pending(); });
    if (count() == 0)
      return failure{refusal().empty()
                         ? "Nobody of run " + shown_run(plan_.run)
                               + " answers at the addresses given; name a peer "
                                 "of it with --peer HOST:PORT."
                         : "The peers refuse this visit: " + refusal()};
    wait(others_patience, [&] { return !anything_pending(); });
    for (auto* l : guests())
      say(*l,
          find_records{1, key_of("run/" + plan_.run), {}, {}, most_members});
    wait(others_patience, [&] { return found_ >= count(); });
    for (const auto& who : members_)
      call_on(who);
    wait(others_patience, [&] { return !anything_pending(); });
    return true;
  }

  std::optional<manifest> ask_for_manifest() {
    for (auto* l : guests())
      say(*l, charter_request{1, plan_.run});
    wait(answer_patience, [&] { return manifest_.has_value(); });
    return manifest_;
  }

  std::size_t read_amendments(amendment_book& book) {
    for (bool more = true; more;) {
      const auto before = book.latest();
      ask(before);
      wait(answer_patience, [&] { return answered() >= count(); });
      for (const auto& [id, shown] : shown_)
        for (const auto& x : shown)
          book.take(x.bytes);
      more = book.latest() > before;
    }
    return answered();
  }

  std::optional<run_progress> look_at_progress() {
    if (!wait(report_patience, [&] { return step().has_value(); }))
      return std::nullopt;
    wait(again, [] { return false; }); // More of them.
    const auto first = *step();
    const auto begin = clock::now();
    wait(pace_patience, [] { return false; });
    const std::chrono::duration<double> took = clock::now() - begin;
    run_progress result;
    result.step = step().value_or(first);
    result.steps_per_second
        = static_cast<double>(result.step - std::min(first, result.step))
          / took.count();
    result.trainers = reports_.size();
    return result;
  }

  std::map<digest, std::size_t> ask_for_kept(std::uint64_t step) {
    wait(report_patience, [&] { return !reports_.empty(); });
    wait(again, [] { return false; }); // More of them.
    ++question_;
    for (auto* l : guests())
      say(*l, state_request{question_, step, {}, false, true});
    wait(answer_patience, [&] { return kept_.size() >= reports_.size(); });
    std::map<digest, std::size_t> result;
    for (const auto& [who, state] : kept_)
      if (!state.empty())
        ++result[state];
    return result;
  }

  delivery deliver(const amendment_book& book) {
    const auto latest = book.latest();
    const auto newest = book.after(latest - 1);
    // They may lack others before it.
    const auto all
        = book.after(latest - std::min<std::uint64_t>(latest, max_amendments));
    for (auto* l : guests())
      say(*l, amendments_reply{0, plan_.run, all});
    delivery result;
    result.asked = count();
    const auto wanted = std::min(enough_holders, result.asked);
    const auto end = clock::now() + delivery_patience;
    while (result.holders < wanted && clock::now() < end) {
      ask(latest - 1);
      wait(answer_patience, [&] { return answered() >= count(); });
      std::size_t holders = 0;
      for (const auto& [id, shown] : shown_)
        holders += std::any_of(shown.begin(), shown.end(), [&](auto& x) {
          return x.bytes == newest.at(0).bytes;
        });
      result.holders = std::max(result.holders, holders);
      if (holders < wanted)
        wait(again, [] { return false; });
    }
    return result;
  }

private:
  void call_on(const contact& who) {
    if (dialable(who.where) && dialled_.insert(who.where).second)
      dial(who);
  }

  std::string refusal() {
    for (const auto& [id, l] : lines())
      if (!l.refusal.empty())
        return l.refusal;
    return "";
  }

  std::size_t answered() {
    const auto all = guests();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(),
                      [&](auto* l) { return shown_.count(l->id) != 0; }));
  }

  void ask(std::uint64_t after) {
    ++question_;
    shown_.clear();
    for (auto* l : guests())
      say(*l, amendments_request{question_, plan_.run, after});
  }

  /// Where most trainers are, or ahead of: one that lies does not matter.
  std::optional<std::uint64_t> step() const {
    std::vector<std::uint64_t> all;
    for (const auto& [id, x] : reports_)
      if (x.role == role::trainer && x.phase != phase::joining)
        all.push_back(x.step);
    if (all.empty())
      return std::nullopt;
    return upper_median(std::move(all));
  }

  void heard(line& l, const message& content,
             const shared_bytes& body) override {
    if (auto report = std::get_if<progress_report>(&content)) {
      if (report->id == l.who.id)
        reports_[l.who.id] = *report;
    } else if (auto found = std::get_if<records_found>(&content)) {
      ++found_;
      for (const auto& x : found->records)
        if (auto said = x.kind == record_kind::progress
                            ? decode_progress(x.value)
                            : expected<progress_report>{failure{}};
            said && members_.size() < most_members)
          members_.push_back({said->id, said->where});
    } else if (auto reply = std::get_if<amendments_reply>(&content)) {
      if (reply->token == question_ && reply->run == plan_.run)
        shown_[l.id] = reply->amendments;
    } else if (auto kept = std::get_if<state_manifest>(&content)) {
      if (kept->token == question_ && !kept->mean && kept->retry_ms == 0)
        kept_[l.who.id] = kept->state;
      say(l, state_done{});
    } else if (std::holds_alternative<charter_reply>(content)) {
      auto theirs = manifest::read(
          {reinterpret_cast<const char*>(body.data), body.size},
          id_in(plan_.run));
      if (theirs)
        manifest_ = std::move(*theirs);
    }
  }

  organiser_plan plan_;
  std::set<address> dialled_;
  std::size_t found_ = 0; ///< Answers with records.
  std::vector<contact> members_;
  std::map<peer_id, progress_report> reports_;
  /// Answers to the last question, by connection.
  std::map<connection_id, std::vector<signed_amendment>> shown_;
  std::map<peer_id, digest> kept_; ///< Of the step that was asked for.
  std::optional<manifest> manifest_;
  std::uint64_t question_ = 1;
};

organiser_visit::organiser_visit(organiser_plan plan)
    : here_(std::make_unique<conversation>(std::move(plan))) {
}

organiser_visit::~organiser_visit() = default;

expected<bool> organiser_visit::begin() {
  return here_->begin();
}

std::optional<manifest> organiser_visit::ask_for_manifest() {
  return here_->ask_for_manifest();
}

std::size_t organiser_visit::read_amendments(amendment_book& book) {
  return here_->read_amendments(book);
}

std::optional<run_progress> organiser_visit::look_at_progress() {
  return here_->look_at_progress();
}

std::map<digest, std::size_t>
organiser_visit::ask_for_kept(std::uint64_t step) {
  return here_->ask_for_kept(step);
}

organiser_visit::delivery organiser_visit::deliver(const amendment_book& book) {
  return here_->deliver(book);
}

} // namespace potluck::tools

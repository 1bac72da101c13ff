/// The averager: runs one round at a time.
///
/// Sends this peer's parts to the chunks' owners, spawns a reducer for each
/// chunk that this peer owns, sends their means to everybody who holds the
/// model, collects the others' means, and carries out what the agreement
/// (runtime/averaging/round/round_agreement.hpp) decides or a heal wants done.
/// Keeps the means of the last round to serve members that lack some, until the
/// next one begins.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "actors/interfaces.hpp"
#include "actors/supervisor.hpp"
#include "runtime/averaging/chunk_audit.hpp"
#include "runtime/averaging/gradient_assembly.hpp"
#include "runtime/averaging/means_inquiry.hpp"
#include "runtime/averaging/robust_mean.hpp"
#include "runtime/averaging/round/round_agreement.hpp"
#include "runtime/averaging/round_intake.hpp"
#include "runtime/averaging/value_pool.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

namespace potluck {

struct averager_config {
  peer_id self;
  /// How parts become means: the run's.
  averaging_rule rule = {};
  /// How parts and means are sent, where the plan says nothing: the run's.
  potluck::packing packing = potluck::packing::float32;
  /// That a predecessor had begun: its members hear that this peer is out of
  /// it. Empty for none.
  round_begun abandoned = {};
  /// Told of every reducer (see `peer_config::child_started`).
  supervisor::witness reducer_started = {};
  /// See `peer_config::bend_mean`.
  std::function<void(std::vector<float>&)> bend_mean = {};
  std::uint64_t seed = 1; ///< Of which means it checks.
  /// Where the gateway puts what it can; null: everything comes by letter.
  std::shared_ptr<round_intake> intake = {};
};

class averager_state {
public:
  void init(averager_actor::pointer self, averager_config config);

  void on(const wiring& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const begin_round& x);
  void on(const member_withdrew& x);
  void on(const outcome_known& x);
  void on(const mean_ready& x);
  void on(const part_refused& x);
  void on(const inquiry_due& x);
  void on(const out_of_touch& x);
  void on(const deadline_passed& x);
  void on_down(const caf::down_msg& x);

private:
  using clock_time = caf::actor_clock::time_point;

  /// A mean that this member averages once more.
  struct check {
    chunk_audit audit;
    std::set<std::size_t> challengers; ///< Empty: it was drawn here.
    std::optional<chunk_audit::outcome> found = std::nullopt;
  };

  /// The round that runs, or the last one: then it is decided.
  struct round {
    round(begin_round what, chunk_map where, std::size_t who, bool needs_means,
          round_agreement about, clock_time now)
        : order{std::move(what)}, map{std::move(where)}, self{who},
          trains{needs_means}, agreement{std::move(about)}, began{now},
          last_news{now} {
    }
    begin_round order;
    chunk_map map;
    std::size_t self;
    bool trains; ///< This peer needs the means.
    round_agreement agreement;
    std::shared_ptr<std::vector<float>> mean;
    std::optional<gradient_assembly> assembly;
    /// Of the values in the assembly: made while they are in the cache.
    std::map<std::uint32_t, digest> digests;
    /// Of planned chunks, and of others that parts came for.
    std::map<std::uint32_t, chunk_reducer_actor> reducers;
    std::set<std::uint32_t> offered;  ///< Own reducers that have our own part.
    std::set<std::uint32_t> averaged; ///< Whose reducers have ended.
    /// Means averaged here; a trainer's move to `mean` when they count.
    std::map<std::uint32_t, std::shared_ptr<const std::vector<float>>> made;
    /// Which reducers' planned means lack a member: they refused its part.
    std::map<std::size_t, std::set<std::size_t>> refused_by;
    std::set<std::size_t> heard; ///< Members that did their part towards us.
    // Inquiries (averager_inquiry.cpp).
    /// Of the own means: the parts' digests.
    std::map<std::uint32_t, std::vector<digest>> parts;
    /// What planned reducers, and this one, commit themselves to them with.
    std::map<std::uint32_t, digest> seals;
    /// The own means, as planned reducer, as they are sent; if not as floats.
    std::map<std::uint32_t, shared_bytes> packed_means;
    std::optional<std::uint32_t> drawn; ///< The chunk to check.
    std::map<std::uint32_t, check> checks;
    std::set<std::size_t> challenged_by;
    std::map<std::size_t, std::set<std::uint32_t>> shown; ///< To whom, which.
    std::optional<means_inquiry> inquiry;
    bool judged = false;
    bool committed = false;
    std::optional<round_over> withheld; ///< News of the abort, until judged.
    /// The last trainer whose line broke, while that of this peer may have.
    std::optional<peer_id> last_in_touch;
    bool lost_patience = false;
    bool over = false;
    clock_time began;
    clock_time last_news;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;

    const group_contract& contract() const {
      return order.contract;
    }
  };

  void read(const letter& x, const chunk_part& part);
  void read(const letter& x, const chunk_mean& mean);
  void read(const letter& x, const mean_request& request);
  void read(const letter& x, const round_findings& found);
  void read(const letter& x, const part_request& request);
  void read(const letter& x, const part_digests& told);
  void read(const letter& x, const mean_challenge& challenge);
  template <class Other>
  void read(const letter& x, const Other& other);
  void receive(const letter& x, clock_time when);
  /// Hears of what the intake has taken.
  void catch_up();
  /// From here on everything comes by letter.
  void close_intake();
  void expect_means();
  /// While the round runs, its connections share lines as its plan does.
  void plan_windows();

  /// Of the round that a letter belongs to; null for other letters.
  static const group_id* group_of(const message& x);
  void stay_out(const group_id& group);
  bool stayed_out(const letter& x, const group_id& group);
  /// Whether this was a round of ours that came to nothing: then whoever asks
  /// is told so.
  bool was_aborted(const letter& x, const group_id& group);
  void lose(const peer_id& member);
  /// Whether this was the last trainer of several that we had a line to: then
  /// it is more likely our own line that broke.
  bool cut_off_without(const peer_id& member) const;
  /// Null when the chunk has been averaged.
  chunk_reducer_actor reducer_of(std::uint32_t chunk);
  void offer_own_part(std::uint32_t chunk);
  void send_parts();
  shared_bytes own_part(std::uint32_t chunk) const;
  /// How a member packs the parts that it sends in this round, and the means
  /// that it makes as the planned reducer.
  packing packing_of(std::size_t member) const;
  /// As it is sent to another reducer, and how it is packed then.
  std::pair<shared_bytes, packing> outgoing_part(std::uint32_t chunk) const;
  void adopt_own_means();
  /// Puts a mean where it belongs, unless it is there already.
  gradient_assembly::verdict place(std::uint32_t chunk, packing how,
                                   const shared_bytes& body);
  /// One digest of all values, of those of the chunks.
  digest digest_of_means();
  /// Ends our part in the round, and tells the others.
  void abandon(const std::string& why);
  void tell_out_of(const group_id& group, const std::vector<peer_id>& members);
  void carry_out(const round_agreement::actions& actions);
  void carry_out(const send_to_member& x);
  void carry_out(const round_decision& x);
  void carry_out(const send_part& x);
  void carry_out(const send_mean& x);
  void carry_out(const ask_mean& x);
  void carry_out(const average_chunk& x);
  void end_reducers();
  void arm();
  shared_bytes mean_bytes(std::uint32_t chunk) const;
  /// Packs an own mean. @returns The mean that the others unpack.
  std::shared_ptr<const std::vector<float>>
  pack_mean(std::uint32_t chunk, const std::vector<float>& values);
  void blame(const peer_id& member, const std::string& why);
  /// Also ends the session: a mean that counts will not come from there.
  void refuse_mean(const peer_id& from, const std::string& why);
  /// This reducer refused the member's part, or says so with its mean.
  void note_refusal(std::size_t member, std::size_t reducer);
  void name_silent(round_over& news) const;

  // Inquiries.
  void draw_a_check();
  void begin_check(std::uint32_t chunk, std::optional<std::size_t> challenger);
  /// A part for a check, or false.
  bool shown(const letter& x, const chunk_part& part);
  bool show(chunk_audit& audit, std::size_t member, std::uint64_t samples,
            const shared_bytes& body, packing how) const;
  void judge_check(std::uint32_t chunk);
  void answer_for(const check& x, std::uint32_t chunk);
  /// Tells all what we found, and keeps the news of the abort until then.
  void inquire(round_over news);
  void open_inquiry();
  void judge_if_all_spoke();
  void judge_means();
  void doubt(const std::set<std::size_t>& who, const std::string& why);
  void expose(std::size_t member, const std::string& why);
  void tell_others(const message& what);

  averager_actor::pointer self_ = nullptr;
  averager_config config_;
  wiring wired_;
  std::set<peer_id> connected_;
  std::optional<round> round_;
  /// For rounds that other members have started before us.
  std::deque<letter> early_;
  /// Groups whose rounds this peer will not start, and whom it told so.
  std::deque<std::pair<group_id, std::set<peer_id>>> left_;
  /// Groups whose rounds were aborted here, the newest last, without the
  /// present one.
  std::deque<group_id> aborted_;
  std::uint64_t deadline_ = 0;
  /// Where means are made; for gradients as long as the last one.
  std::optional<value_pool> room_;
  std::uint64_t room_for_ = 0;
  random_stream chance_{1};
};

averager_actor::behavior_type
averager(averager_actor::stateful_pointer<averager_state> self,
         averager_config config);

} // namespace potluck

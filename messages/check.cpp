#include "messages/check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <type_traits>

#include "messages/limits.hpp"

namespace potluck {

namespace {

/// Collects the first broken rule. `problem` stays empty while all hold.
class checker {
public:
  std::string problem;

  void must(bool holds, const char* rule) {
    if (!holds && problem.empty())
      problem = rule;
  }

  void operator()(const hello& x) {
    must(!x.id.empty(), "the sender's id is missing");
    known(x.role);
    text(x.run, max_run_bytes, "the run's name");
    must(x.settings.size() <= max_settings, "there are too many settings");
    for (auto& s : x.settings) {
      must(!s.name.empty(), "a setting has no name");
      text(s.name, max_setting_name_bytes, "a setting's name");
      text(s.value, max_setting_value_bytes, "a setting's value");
    }
    host(x.seen_host);
  }
  void operator()(const refusal& x) {
    must(!x.sentence.empty(), "the refusal gives no reason");
    text(x.sentence, max_sentence_bytes, "the refusal's sentence");
  }
  void operator()(const goodbye& x) {
    text(x.reason, max_sentence_bytes, "the reason");
  }
  // Tokens are the asker's business, and every point of the space is a target.
  void operator()(const heartbeat&) {
  }
  void operator()(const heartbeat_reply&) {
  }
  void operator()(const routing_ping&) {
  }
  void operator()(const routing_pong&) {
  }
  void operator()(const charter_request&) {
  }
  void operator()(const charter_reply&) {
  }
  void operator()(const state_done&) {
  }
  void operator()(const line_probe&) {
  }
  void operator()(const reach_request& x) {
    must(x.port != 0, "the port to connect to is missing");
  }
  void operator()(const reach_answer&) {
  }

  void operator()(const find_nodes& x) {
    marks(x.known_nodes);
  }
  void operator()(const find_records& x) {
    marks(x.known_nodes);
    marks(x.known_records);
    must(x.most <= max_records, "more records are wanted than fit a frame");
  }
  void operator()(const nodes_found& x) {
    contacts(x.nodes);
  }
  void operator()(const store_records& x) {
    must(!x.records.empty(), "there is no record to store");
    records(x.records);
  }
  void operator()(const records_stored& x) {
    must(x.accepted <= max_records, "more records were kept than fit a frame");
  }
  void operator()(const records_found& x) {
    records(x.records);
    contacts(x.nodes);
    must(x.stored <= max_stored, "more records of a key than a node keeps");
  }

  void operator()(const progress_report& x) {
    must(!x.id.empty(), "the reporter's id is missing");
    where(x.where);
    known(x.role);
    must(x.phase <= phase::founding, "the phase is unknown");
    must(x.step <= max_step, "the step is too large");
    must(x.history_samples <= max_history_samples, "the history is too long");
    must(x.samples <= max_samples, "there are too many samples");
    real(x.samples_per_second, "the speed");
    real(x.upload_bytes_per_second, "the upload bandwidth");
    real(x.download_bytes_per_second, "the download bandwidth");
    real(x.loss, "the loss");
    must(x.contributes || x.sponsor.empty(),
         "a peer that does not contribute has a sponsor");
    must(x.contributors <= max_contributors, "there are too many contributors");
    must(x.members <= max_members, "there are too many members");
    pairs(x.slow_pairs);
    must(x.contributes || !x.apart,
         "a peer that does not contribute does so for want of reach");
    must(x.redraws_from <= max_step, "the step of the redrawing is too large");
  }

  void operator()(const contribution_request& x) {
    must(x.step <= max_step, "the step is too large");
    must(!x.state.empty(), "the state's digest is missing");
    known(x.packing);
    for (const auto* who : {&x.nearer, &x.better})
      if (who->id.empty())
        must(who->where == address{}, "a contact's id is missing");
      else
        contact_of(*who);
    must(x.farther.empty() || x.farther != x.nearer.id,
         "one peer is next to it on both sides");
  }
  void operator()(const contribution_part& x) {
    must(x.chunk < max_chunks, "the chunk's index is too large");
    must(x.samples > 0, "there are no samples");
    must(x.samples <= max_samples, "there are too many samples");
    known(x.packing);
    real(x.loss_sum, "the loss");
  }
  void operator()(const contribution_answer& x) {
    text(x.reason, max_sentence_bytes, "the reason");
  }

  void operator()(const expert_request& x) {
    must(!x.uid.empty(), "the expert's uid is missing");
    text(x.uid, max_uid_bytes, "the expert's uid");
    must(x.pass <= expert_pass::backward, "the pass is unknown");
    tensor(x.samples, x.values);
    must(x.patience_ms > 0, "the patience is zero");
    must(x.patience_ms <= max_patience_ms, "the patience is too long");
    dense(x.packing);
    if (x.pass == expert_pass::forward)
      must(x.gradients == 0, "a forward pass has gradients");
    else
      must(x.gradients > 0 && x.gradients < x.values,
           "a backward pass has no gradients, or nothing else");
  }
  void operator()(const expert_answer& x) {
    must(x.outcome <= expert_outcome::failed, "the outcome is unknown");
    text(x.sentence, max_sentence_bytes, "the sentence");
    dense(x.packing);
    if (x.outcome == expert_outcome::done) {
      tensor(x.samples, x.values);
      return;
    }
    must(!x.sentence.empty(), "the refusal gives no reason");
    must(x.samples == 0 && x.values == 0, "a refusal has values");
  }
  void operator()(const expert_announcement& x) {
    contact_of(x.host);
    must(x.inputs > 0 && x.outputs > 0, "a sample has no values");
    must(x.inputs <= max_sample_values && x.outputs <= max_sample_values,
         "a sample has too many values");
    must(x.term > 0 && x.term <= max_term, "the term is zero or too large");
  }
  void operator()(const expert_host_notice& x) {
    contact_of(x.host);
    must(!x.kind.empty(), "the kind of expert is missing");
    must(x.spare <= max_spare, "there is too much room");
  }
  void operator()(const replica_offer& x) {
    replica(x);
    must(x.bytes > 0 && x.bytes <= max_replica_bytes,
         "an expert has no bytes or too many");
    must(!x.sum.empty(), "the bytes' digest is missing");
    must(!x.kind.empty(), "the kind of expert is missing");
    contact_of(x.owner);
  }
  void operator()(const replica_reply& x) {
    replica(x);
    must(x.standing <= replica_standing::refused, "the standing is unknown");
    if (x.standing != replica_standing::wanted) {
      must(x.offset == 0 && x.length == 0, "bytes that nobody wants");
      return;
    }
    must(x.length > 0 && x.length <= replica_window_bytes,
         "no bytes or too many are wanted at once");
    must(x.offset < max_replica_bytes, "the offset is too large");
  }
  void operator()(const replica_chunk& x) {
    replica(x);
    must(x.offset < max_replica_bytes, "the offset is too large");
  }

  void operator()(const group_invite& x) {
    group(x.group);
    must(x.step <= max_step, "the step is too large");
    must(!x.state.empty(), "the state's digest is missing");
  }
  void operator()(const group_answer& x) {
    group(x.group);
    text(x.reason, max_sentence_bytes, "the reason");
    contribution(x);
    must(x.avoid.size() <= max_avoided, "too many peers are avoided");
  }
  void operator()(const group_start& start) {
    auto& x = start.contract;
    group(x.group);
    must(x.step <= max_step, "the step is too large");
    must(x.gradient_values > 0, "the gradient has no values");
    must(x.gradient_values <= max_gradient_values, "the gradient is too long");
    must(x.chunk_values > 0, "a chunk has no values");
    must(x.chunk_values <= max_chunk_values, "a chunk does not fit a body");
    // No overflow: the first factor is at most 2^22, the second 2^24.
    must(x.gradient_values <= x.chunk_values * max_chunks,
         "there are too many chunks");
    must(x.patience_ms > 0, "the patience is zero");
    must(x.patience_ms <= max_patience_ms, "the patience is too long");
    must(!x.members.empty(), "the group has no members");
    must(x.members.size() <= max_members, "the group has too many members");
    must(!x.plan.empty(), "the plan's digest is missing");
    std::set<peer_id> seen;
    bool samples = false;
    for (auto& m : x.members) {
      contact_of(m.who);
      known(m.role);
      must(m.role == role::trainer || m.role == role::auxiliary,
           "a peer that takes no part in steps is a member");
      contribution(m);
      must(seen.insert(m.who.id).second, "a member is listed twice");
      samples = samples || m.samples > 0;
    }
    must(samples, "no member has samples");
    std::uint64_t total = 0; // Stays below 2^48.
    for (auto& m : x.members)
      total += m.samples;
    must(x.least_samples > 0, "a step over no samples would count");
    must(x.least_samples <= total, "the members have too few samples");
  }
  void operator()(const group_cancel& x) {
    group(x.group);
    text(x.reason, max_sentence_bytes, "the reason");
  }

  void operator()(const chunk_part& x) {
    chunk(x);
    must(x.samples <= max_samples, "there are too many samples");
  }
  void operator()(const chunk_mean& x) {
    chunk(x);
    dense(x.packing);
    must(x.samples <= max_group_samples, "there are too many samples");
    must(x.version > 0, "the mean has no version");
    version(x.version);
    ascending(x.left_out);
  }
  void operator()(const round_findings& x) {
    group(x.group);
    must(!x.owners.empty(), "there are no findings");
    must(x.owners.size() <= max_members, "there are too many digests");
  }
  void operator()(const part_request& x) {
    about_chunk(x);
  }
  void operator()(const part_digests& x) {
    about_chunk(x);
    must(!x.parts.empty(), "there are no digests");
    must(x.parts.size() <= max_members, "there are too many digests");
  }
  void operator()(const mean_challenge& x) {
    about_chunk(x);
  }
  void operator()(const mean_request& x) {
    about_chunk(x);
    version(x.version);
  }
  void operator()(const round_prepared& x) {
    group(x.group);
    must(!x.mean.empty(), "the mean's digest is missing");
    must(x.epoch < max_epochs, "the epoch is too large");
    coverage(x);
  }
  void operator()(const round_settle& x) {
    group(x.group);
    must(x.epoch < max_epochs, "the epoch is too large");
  }
  void operator()(const round_standing& x) {
    group(x.group);
    must(x.epoch < max_epochs, "the epoch is too large");
    must(x.standing <= standing::spectator, "the standing is unknown");
    bool holds_mean
        = x.standing == standing::prepared || x.standing == standing::committed;
    must(x.mean.empty() != holds_mean,
         "the mean's digest does not fit the standing");
    must(x.ruled <= (holds_mean ? x.epoch + 1 : 0),
         "the means are of a later ruling, or there are none");
    coverage(x);
    must(x.chunks.size() <= max_heal_chunks, "there are too many chunks");
    for (auto& chunk : x.chunks) {
      version(chunk.version);
      must(chunk.samples <= max_group_samples, "there are too many samples");
    }
  }
  void operator()(const round_verdict& x) {
    group(x.group);
    must(x.epoch < max_epochs, "the epoch is too large");
    must(x.mean.empty() != x.commit,
         "the mean's digest does not fit the verdict");
    coverage(x);
  }
  void operator()(const round_heal& x) {
    group(x.group);
    must(x.epoch < max_epochs, "the epoch is too large");
    must(!x.alive.empty(), "nobody is to heal the round");
    ascending(x.alive);
    must(!x.chunks.empty(), "the round has no chunks");
    must(x.chunks.size() <= max_heal_chunks, "there are too many chunks");
    for (auto& chunk : x.chunks) {
      must(chunk.version > 0, "a chunk has no version");
      must(chunk.version <= x.epoch + 2, "a version is of a later epoch");
      must(std::binary_search(x.alive.begin(), x.alive.end(), chunk.member),
           "a chunk comes from a member that takes no part");
    }
  }

  void operator()(const state_manifest& x) {
    must(x.step <= max_step, "the step is too large");
    must(x.history_samples <= max_history_samples, "the history is too long");
    must(x.bytes <= max_state_bytes, "the state is too large");
    must(x.piece_bytes <= max_body_bytes, "a piece does not fit a body");
    must(x.recent.size() <= max_recent_digests, "there are too many digests");
    must(x.pieces.size() <= max_pieces, "there are too many pieces");
    must(x.samples <= max_group_samples, "there are too many samples");
    must(x.offered <= max_step, "the step is too large");
    must(x.retry_ms <= max_patience_ms, "the time to ask again is too long");
    if (!x.available)
      return;
    must(!x.state.empty(), "the state's digest is missing");
    must(x.bytes > 0, "the state has no bytes");
    must(x.piece_bytes > 0, "a piece has no bytes");
    must(x.bytes <= x.piece_bytes * max_pieces, "there are too many pieces");
    must(x.piece_bytes == 0
             || x.pieces.size()
                    == (x.bytes + x.piece_bytes - 1) / x.piece_bytes,
         "not every piece has its digest");
    must(!x.mean || (x.samples > 0 && x.bytes % 4 == 0),
         "the mean has no samples or no whole values");
    must(x.offered == 0 && x.retry_ms == 0, "what is there is put off");
  }
  void operator()(const state_request& x) {
    must(x.step <= max_step, "the step is too large");
    must(!x.means_only || !x.state.empty(), "the state's digest is missing");
    must(!x.lists_only || x.means_only, "only means are only listed");
  }
  void operator()(const piece_request& x) {
    piece(x);
  }
  void operator()(const state_piece& x) {
    piece(x);
  }

private:
  void name_rule(bool holds, const char* what, const char* rule) {
    if (!holds && problem.empty())
      problem = std::string{what} + rule;
  }
  void text(const std::string& x, std::size_t limit, const char* what) {
    name_rule(x.size() <= limit, what, " is too long");
    name_rule(is_text(x), what, " is not plain text");
  }
  void real(double x, const char* what) {
    // Written so that NaN fails.
    name_rule(x >= 0 && x <= max_real, what, " is not a number from 0 to 1e18");
  }
  void known(role x) {
    must(x <= role::expert, "the role is unknown");
  }
  void group(const group_id& x) {
    must(!x.empty(), "the group's id is missing");
  }
  void host(const std::string& x) {
    must(x.size() <= max_host_bytes, "a host is too long");
    must(std::all_of(x.begin(), x.end(),
                     [](char c) { return c > 0x20 && c < 0x7f; }),
         "a host is not printable ASCII");
  }
  void where(const address& x) {
    host(x.host);
  }
  void contact_of(const contact& x) {
    must(!x.id.empty(), "a contact's id is missing");
    where(x.where);
  }
  void marks(const known_marks& xs) {
    must(xs.size() <= max_known, "it knows too many names");
  }
  void contacts(const std::vector<contact>& xs) {
    must(xs.size() <= max_contacts, "there are too many contacts");
    for (auto& x : xs)
      contact_of(x);
  }
  void records(const std::vector<dht_record>& xs) {
    must(xs.size() <= max_records, "there are too many records");
    for (auto& x : xs) {
      must(x.subkey.size() <= max_subkey_bytes, "a subkey is too long");
      must(x.value.size() <= max_record_value_bytes, "a value is too long");
      must(x.lives_ms > 0, "a record has no life left");
    }
  }
  template <class T>
  void contribution(const T& x) {
    must(x.samples <= max_samples, "there are too many samples");
    real(x.loss_sum, "the loss");
    real(x.upload_bytes_per_second, "the upload bandwidth");
    real(x.download_bytes_per_second, "the download bandwidth");
    pairs(x.slow_pairs);
    const auto& cell = x.cell;
    real(cell.samples_per_second, "a cell's speed");
    must(cell.contributors <= max_contributors,
         "there are too many contributors");
    must(cell.apart <= cell.contributors,
         "more contributors cannot be reached than there are");
    real(cell.upload_bytes_per_second, "the contributors' upload bandwidth");
    real(cell.download_bytes_per_second,
         "the contributors' download bandwidth");
  }
  void pairs(const std::vector<slow_pair>& xs) {
    must(xs.size() <= max_slow_pairs, "there are too many slow pairs");
    for (const auto& x : xs) {
      must(!x.to.empty(), "a slow pair's peer is missing");
      real(x.bytes_per_second, "a slow pair's bandwidth");
      must(x.bytes_per_second > 0, "a slow pair's bandwidth is zero");
    }
  }
  template <class T>
  void about_chunk(const T& x) {
    group(x.group);
    must(x.chunk < max_chunks, "the chunk's index is too large");
  }
  template <class T>
  void chunk(const T& x) {
    about_chunk(x);
    must(x.samples > 0, "there are no samples behind the values");
    known(x.packing);
  }
  void known(packing x) {
    must(x <= packing::topk, "the packing is unknown");
  }
  /// Of values of which none may be missing.
  void dense(packing x) {
    must(x <= packing::int8, "the packing is unknown, or leaves values out");
  }
  void tensor(std::uint32_t samples, std::uint32_t values) {
    must(samples > 0, "there are no samples");
    must(samples <= max_call_samples, "there are too many samples");
    must(values > 0, "a sample has no values");
    must(values <= max_sample_values, "a sample has too many values");
  }
  void version(mean_version x) {
    must(x <= max_epochs + 1, "the mean's version is too large");
  }
  void ascending(const std::vector<std::uint8_t>& members) {
    must(std::adjacent_find(members.begin(), members.end(),
                            std::greater_equal<>{})
             == members.end(),
         "the members are not ascending");
  }
  /// Samples go with a digest, and only with one.
  template <class T>
  void coverage(const T& x) {
    must((x.least_samples > 0) != x.mean.empty(),
         "the samples do not fit the mean's digest");
    must(x.least_samples <= x.most_samples, "the least samples are the most");
    must(!x.mean.empty() || x.most_samples == 0,
         "there are samples without a mean");
    must(x.most_samples <= max_group_samples, "there are too many samples");
  }
  template <class T>
  void replica(const T& x) {
    must(!x.uid.empty(), "the expert's uid is missing");
    text(x.uid, max_uid_bytes, "the expert's uid");
    must(x.term > 0 && x.term <= max_term, "the term is zero or too large");
  }
  template <class T>
  void piece(const T& x) {
    must(!x.state.empty(), "the state's digest is missing");
    must(x.piece < max_pieces, "the piece's index is too large");
  }
};

template <class T, class... Ts>
constexpr bool is_any = (std::is_same_v<T, Ts> || ...);

/// Bytes of the values that come with a call or its answer. No overflow: each
/// factor is below 2^32 and the rules allow 2^22 of either.
template <class T>
std::uint64_t tensor_bytes(const T& x) {
  if (std::uint64_t{x.samples} * x.values > max_sample_values)
    return UINT64_MAX;
  std::uint32_t apart = 0; // Has scales of its own.
  if constexpr (std::is_same_v<T, expert_request>)
    apart = std::min(x.gradients, x.values);
  return packed_bytes(x.packing, std::size_t{x.samples} * (x.values - apart))
         + packed_bytes(x.packing, std::size_t{x.samples} * apart);
}

template <class T>
void check_body(checker& check, [[maybe_unused]] const T& x, std::size_t size) {
  if constexpr (is_any<T, chunk_part, chunk_mean, contribution_part>) {
    check.must(size > 0, "the body holds no values");
    check.must(x.packing != packing::float32 || size % 4 == 0,
               "the body does not hold whole float32 values");
  } else if constexpr (is_any<T, expert_request, expert_answer>)
    check.must(size == tensor_bytes(x),
               "the body does not hold as many values as it says");
  else if constexpr (is_any<T, replica_chunk>)
    check.must(size > 0 && size <= replica_chunk_bytes,
               "a part of a replica has no bytes or too many");
  else if constexpr (is_any<T, line_probe>)
    check.must(size <= max_probe_bytes, "a line probe is too large");
  else if constexpr (!is_any<T, charter_reply, state_piece>)
    check.must(size == 0, "a body came with a message that has none");
  check.must(size <= max_body_bytes, "the body is too large");
}

} // namespace

std::string problem_with(const message& x, std::size_t body_size) {
  checker check;
  std::visit(
      [&](const auto& m) {
        check_body(check, m, body_size);
        check(m);
      },
      x);
  return std::move(check.problem);
}

std::string problem_with(const expert_announcement& x) {
  checker check;
  check(x);
  return std::move(check.problem);
}

std::string problem_with(const expert_host_notice& x) {
  checker check;
  check(x);
  return std::move(check.problem);
}

std::string problem_with(const progress_report& x) {
  checker check;
  check(x);
  return std::move(check.problem);
}

} // namespace potluck

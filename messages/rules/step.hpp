/// What the frames of a step MUST be: how a group forms, its round, and what
/// contributors hand to their sponsor.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "messages/averaging.hpp"
#include "messages/cells.hpp"
#include "messages/limits.hpp"
#include "messages/matchmaking.hpp"
#include "messages/rules/rules.hpp"

namespace potluck::checks {

/// What a member brings: `group_answer` or `group_member`.
template <class T>
void contribution(rules& must, const T& x) {
  must.hold(x.samples <= max_samples, "there are too many samples");
  must.loss(x.loss_sum);
  must.real(x.upload_bytes_per_second, "the upload bandwidth");
  must.real(x.download_bytes_per_second, "the download bandwidth");
  must.pairs(x.slow_pairs);
  must.hold(x.relayed.size() <= max_members, "too many peers are relayed");
}

inline void check(rules& must, const group_invite& x) {
  must.group(x.group);
  must.hold(x.step <= max_step, "the step is too large");
  must.hold(!x.state.empty(), "the state's digest is missing");
}

inline void check(rules& must, const group_answer& x) {
  must.group(x.group);
  must.text(x.reason, max_sentence_bytes, "the reason");
  contribution(must, x);
  must.hold(x.avoid.size() <= max_avoided, "too many peers are avoided");
}

inline void check(rules& must, const group_start& start) {
  auto& x = start.contract;
  must.group(x.group);
  must.hold(x.step <= max_step, "the step is too large");
  must.hold(x.gradient_values > 0, "the gradient has no values");
  must.hold(x.gradient_values <= max_gradient_values,
            "the gradient is too long");
  must.hold(x.chunk_values > 0, "a chunk has no values");
  must.hold(x.chunk_values <= max_chunk_values, "a chunk does not fit a body");
  // No overflow: the first factor is at most 2^22, the second 2^24.
  must.hold(x.gradient_values <= x.chunk_values * max_chunks,
            "there are too many chunks");
  must.hold(x.patience_ms > 0, "the patience is zero");
  must.hold(x.patience_ms <= max_patience_ms, "the patience is too long");
  must.hold(!x.members.empty(), "the group has no members");
  must.hold(x.members.size() <= max_members, "the group has too many members");
  must.hold(!x.plan.empty(), "the plan's digest is missing");
  std::set<peer_id> seen;
  bool samples = false;
  for (auto& m : x.members) {
    must.contact_of(m.who);
    must.known(m.role);
    must.hold(m.role == role::trainer || m.role == role::auxiliary,
              "a peer that takes no part in steps is a member");
    contribution(must, m);
    must.hold(seen.insert(m.who.id).second, "a member is listed twice");
    samples = samples || m.samples > 0;
  }
  must.hold(samples, "no member has samples");
  std::uint64_t total = 0; // Stays below 2^48.
  for (auto& m : x.members)
    total += m.samples;
  must.hold(x.least_samples > 0, "a step over no samples would count");
  must.hold(x.least_samples <= total, "the members have too few samples");
}

inline void check(rules& must, const group_cancel& x) {
  must.group(x.group);
  must.text(x.reason, max_sentence_bytes, "the reason");
}

template <class T>
void about_chunk(rules& must, const T& x) {
  must.group(x.group);
  must.hold(x.chunk < max_chunks, "the chunk's index is too large");
}

template <class T>
void chunk(rules& must, const T& x) {
  about_chunk(must, x);
  must.hold(x.samples > 0, "there are no samples behind the values");
  must.known(x.packing);
}

inline void version(rules& must, mean_version x) {
  must.hold(x <= max_epochs + 1, "the mean's version is too large");
}

inline void ascending(rules& must, const std::vector<std::uint8_t>& members) {
  must.hold(
      std::adjacent_find(members.begin(), members.end(), std::greater_equal<>{})
          == members.end(),
      "the members are not ascending");
}

/// Samples go with a digest, and only with one.
template <class T>
void coverage(rules& must, const T& x) {
  must.hold((x.least_samples > 0) != x.mean.empty(),
            "the samples do not fit the mean's digest");
  must.hold(x.least_samples <= x.most_samples,
            "the least samples are the most");
  must.hold(!x.mean.empty() || x.most_samples == 0,
            "there are samples without a mean");
  must.hold(x.most_samples <= max_group_samples, "there are too many samples");
}

inline void check(rules& must, const chunk_part& x) {
  chunk(must, x);
  must.hold(x.samples <= max_samples, "there are too many samples");
}

inline void check(rules& must, const chunk_mean& x) {
  chunk(must, x);
  must.known(x.packing);
  must.hold(x.samples <= max_group_samples, "there are too many samples");
  must.hold(x.version > 0, "the mean has no version");
  version(must, x.version);
  ascending(must, x.left_out);
}

inline void check(rules& must, const mean_request& x) {
  about_chunk(must, x);
  version(must, x.version);
}

inline void check(rules& must, const round_prepared& x) {
  must.group(x.group);
  must.hold(!x.mean.empty(), "the mean's digest is missing");
  must.hold(x.epoch < max_epochs, "the epoch is too large");
  coverage(must, x);
}

inline void check(rules& must, const round_settle& x) {
  must.group(x.group);
  must.hold(x.epoch < max_epochs, "the epoch is too large");
}

inline void check(rules& must, const round_standing& x) {
  must.group(x.group);
  must.hold(x.epoch < max_epochs, "the epoch is too large");
  must.hold(x.standing <= standing::spectator, "the standing is unknown");
  bool holds_mean
      = x.standing == standing::prepared || x.standing == standing::committed;
  must.hold(x.mean.empty() != holds_mean,
            "the mean's digest does not fit the standing");
  must.hold(x.ruled <= (holds_mean ? x.epoch + 1 : 0),
            "the means are of a later ruling, or there are none");
  coverage(must, x);
  must.hold(x.chunks.size() <= max_heal_chunks, "there are too many chunks");
  for (auto& chunk : x.chunks) {
    version(must, chunk.version);
    must.hold(chunk.samples <= max_group_samples, "there are too many samples");
  }
}

inline void check(rules& must, const round_heal& x) {
  must.group(x.group);
  must.hold(x.epoch < max_epochs, "the epoch is too large");
  must.hold(!x.alive.empty(), "nobody is to heal the round");
  ascending(must, x.alive);
  must.hold(!x.chunks.empty(), "the round has no chunks");
  must.hold(x.chunks.size() <= max_heal_chunks, "there are too many chunks");
  for (auto& chunk : x.chunks) {
    must.hold(chunk.version > 0, "a chunk has no version");
    must.hold(chunk.version <= x.epoch + 2, "a version is of a later epoch");
    must.hold(std::binary_search(x.alive.begin(), x.alive.end(), chunk.member),
              "a chunk comes from a member that takes no part");
  }
}

inline void check(rules& must, const round_verdict& x) {
  must.group(x.group);
  must.hold(x.epoch < max_epochs, "the epoch is too large");
  must.hold(x.mean.empty() != x.commit,
            "the mean's digest does not fit the verdict");
  coverage(must, x);
}

inline void check(rules& must, const round_findings& x) {
  must.group(x.group);
  must.hold(!x.owners.empty(), "there are no findings");
  must.hold(x.owners.size() <= max_members, "there are too many digests");
}

inline void check(rules& must, const part_request& x) {
  about_chunk(must, x);
}

inline void check(rules& must, const part_digests& x) {
  about_chunk(must, x);
  must.hold(!x.parts.empty(), "there are no digests");
  must.hold(x.parts.size() <= max_members, "there are too many digests");
}

inline void check(rules& must, const mean_challenge& x) {
  about_chunk(must, x);
}

inline void projections(rules& must, const std::vector<projection>& xs,
                        std::size_t most) {
  must.hold(!xs.empty(), "there are no projections");
  must.hold(xs.size() <= most, "there are too many projections");
  for (auto& x : xs) { // Written so that NaN fails.
    must.hold(std::abs(x.value) <= max_projection,
              "a projection is no number from -2^126 to 2^126");
    must.hold(x.norm >= 0 && x.norm <= max_projection,
              "a norm is no number from 0 to 2^126");
  }
}

inline void check(rules& must, const part_projections& x) {
  must.group(x.group);
  projections(must, x.parts, max_projections);
}

inline void check(rules& must, const sum_dispute& x) {
  about_chunk(must, x);
}

inline void check(rules& must, const sum_account& x) {
  about_chunk(must, x);
  projections(must, x.parts, max_members);
  ascending(must, x.unshown);
}

inline void check(rules& must, const contribution_request& x) {
  must.hold(x.step <= max_step, "the step is too large");
  must.hold(!x.state.empty(), "the state's digest is missing");
  must.known(x.packing);
  for (const auto* who : {&x.nearer, &x.better})
    if (who->id.empty())
      must.hold(who->where == address{}, "a contact's id is missing");
    else
      must.contact_of(*who);
  must.hold(x.farther.empty() || x.farther != x.nearer.id,
            "one peer is next to it on both sides");
}

inline void check(rules& must, const contribution_part& x) {
  must.hold(x.chunk < max_chunks, "the chunk's index is too large");
  must.hold(x.samples > 0, "there are no samples");
  must.hold(x.samples <= max_samples, "there are too many samples");
  must.known(x.packing);
  must.loss(x.loss_sum);
}

inline void check(rules& must, const contribution_answer& x) {
  must.text(x.reason, max_sentence_bytes, "the reason");
}

} // namespace potluck::checks

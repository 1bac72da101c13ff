/// What calls, announcements and replicas of experts MUST be.
#pragma once

#include <cstdint>

#include "messages/experts.hpp"
#include "messages/limits.hpp"
#include "messages/rules/rules.hpp"

namespace potluck::checks {

inline void tensor(rules& must, std::uint32_t samples, std::uint32_t values) {
  must.hold(samples > 0, "there are no samples");
  must.hold(samples <= max_call_samples, "there are too many samples");
  must.hold(values > 0, "a sample has no values");
  must.hold(values <= max_sample_values, "a sample has too many values");
}

template <class T>
void replica(rules& must, const T& x) {
  must.hold(!x.uid.empty(), "the expert's uid is missing");
  must.text(x.uid, max_uid_bytes, "the expert's uid");
  must.hold(x.term > 0 && x.term <= max_term, "the term is zero or too large");
}

inline void check(rules& must, const expert_request& x) {
  must.hold(!x.uid.empty(), "the expert's uid is missing");
  must.text(x.uid, max_uid_bytes, "the expert's uid");
  must.hold(x.pass <= expert_pass::backward, "the pass is unknown");
  tensor(must, x.samples, x.values);
  must.hold(x.patience_ms > 0, "the patience is zero");
  must.hold(x.patience_ms <= max_patience_ms, "the patience is too long");
  must.known(x.packing);
  if (x.pass == expert_pass::forward)
    must.hold(x.gradients == 0, "a forward pass has gradients");
  else
    must.hold(x.gradients > 0 && x.gradients < x.values,
              "a backward pass has no gradients, or nothing else");
}

inline void check(rules& must, const expert_answer& x) {
  must.hold(x.outcome <= expert_outcome::failed, "the outcome is unknown");
  must.text(x.sentence, max_sentence_bytes, "the sentence");
  must.known(x.packing);
  if (x.outcome == expert_outcome::done) {
    tensor(must, x.samples, x.values);
    return;
  }
  must.hold(!x.sentence.empty(), "the refusal gives no reason");
  must.hold(x.samples == 0 && x.values == 0, "a refusal has values");
}

inline void check(rules& must, const expert_announcement& x) {
  must.contact_of(x.host);
  must.hold(x.inputs > 0 && x.outputs > 0, "a sample has no values");
  must.hold(x.inputs <= max_sample_values && x.outputs <= max_sample_values,
            "a sample has too many values");
  must.hold(x.term > 0 && x.term <= max_term, "the term is zero or too large");
}

inline void check(rules& must, const expert_host_notice& x) {
  must.contact_of(x.host);
  must.hold(!x.kind.empty(), "the kind of expert is missing");
  must.hold(x.spare <= max_spare, "there is too much room");
}

inline void check(rules& must, const replica_offer& x) {
  replica(must, x);
  must.hold(x.bytes > 0 && x.bytes <= max_replica_bytes,
            "an expert has no bytes or too many");
  must.hold(!x.sum.empty(), "the bytes' digest is missing");
  must.hold(!x.kind.empty(), "the kind of expert is missing");
  must.contact_of(x.owner);
}

inline void check(rules& must, const replica_reply& x) {
  replica(must, x);
  must.hold(x.standing <= replica_standing::refused, "the standing is unknown");
  if (x.standing != replica_standing::wanted) {
    must.hold(x.offset == 0 && x.length == 0, "bytes that nobody wants");
    return;
  }
  must.hold(x.length > 0 && x.length <= replica_window_bytes,
            "no bytes or too many are wanted at once");
  must.hold(x.offset < max_replica_bytes, "the offset is too large");
}

inline void check(rules& must, const replica_chunk& x) {
  replica(must, x);
  must.hold(x.offset < max_replica_bytes, "the offset is too large");
}

} // namespace potluck::checks

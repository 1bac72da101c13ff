/// A visit to some peers of a run by its organiser: what they hold of its
/// amendments and how far they are, and a new amendment handed to them.
///
/// It takes no part: its key is made for the visit, and it hears reports as an
/// auxiliary does. Where the run does not admit everybody, it shows an
/// admission that the organiser's key has signed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/manifest/manifest.hpp"
#include "runtime/organiser/amendment_book.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tools/potluck/amendment_words.hpp"

namespace potluck::tools {

struct organiser_plan {
  std::string run; ///< Its key.
  std::vector<contact> contacts;
  address listen{"::", 0};
  uv_transport_options how; ///< With a key.
  /// The organiser's; none: the visit sees what strangers may.
  std::optional<key_pair> organiser;
};

class organiser_visit {
public:
  explicit organiser_visit(organiser_plan plan);
  ~organiser_visit();

  /// Dials the contacts, and members that they know of. Fails with a sentence
  /// when nobody answers.
  expected<bool> begin();
  /// Of the run, from whoever has it.
  std::optional<manifest> ask_for_manifest();
  /// Has the book take what the peers hold. @returns How many answered.
  std::size_t read_amendments(amendment_book& book);

  /// What trainers report; nothing if none does in time.
  std::optional<run_progress> look_at_progress();

  /// Which state of this step members keep, and how many of them.
  std::map<digest, std::size_t> ask_for_kept(std::uint64_t step);

  struct delivery {
    std::size_t holders = 0; ///< Peers that have shown it since.
    std::size_t asked = 0;
  };
  /// Hands the book's last amendment, and what may lack before it, to all, and
  /// waits until several show it.
  delivery deliver(const amendment_book& book);

private:
  class conversation;
  std::unique_ptr<conversation> here_;
};

} // namespace potluck::tools

/// Whether anybody answers at the addresses that the user named, and when to
/// give up.
///
/// Pure. A stranger's opinion ends nothing, but the peers that the user named
/// decide: when all of them refuse us, or we them, nobody is left to try.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class first_contact {
public:
  first_contact(std::vector<address> seeds, time_point began)
      : seeds_(std::move(seeds)), began_(began) {
  }

  /// Somebody is connected: nothing is given up any more.
  void reached() {
    reached_ = true;
  }
  /// The only one that was has refused us after all.
  void lost() {
    reached_ = false;
  }
  void dial_failed(const std::string& reason) {
    problem_ = reason;
  }

  /// The peer at `where`, which we dialled, refused us, or we it.
  /// @returns Whether it was the last seed: nobody is left to try.
  bool is_refused_by_all(const address& where, const std::string& sentence);

  struct word {
    bool over = false;    ///< It is given up; else it is tried again.
    std::string sentence; ///< For the user.
  };
  /// @param dials That failed, in a row, at the seed where most did.
  /// @returns What the user is to hear, once; nothing while all is well.
  std::optional<word> look(unsigned dials, time_point now);

private:
  std::vector<address> seeds_;
  time_point began_;
  bool reached_ = false;
  bool gave_up_ = false;
  bool warned_ = false;
  std::string problem_;                     ///< Of the last dial.
  std::map<address, std::string> refusals_; ///< Of seeds.
};

} // namespace potluck

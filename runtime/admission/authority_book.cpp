#include "runtime/admission/authority_book.hpp"

#include <algorithm>
#include <string_view>

#include <sqlite3.h>

#include "runtime/identity/sha256.hpp"
#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

namespace {

/// Another process that adds a name is done within that time.
constexpr int patience_ms = 5000;

constexpr char schema[]
    = "PRAGMA journal_mode=WAL;"
      // Each commit is on the disk before anybody hears of it.
      "PRAGMA synchronous=FULL;"
      "CREATE TABLE IF NOT EXISTS codes(run BLOB, hash BLOB, uses INTEGER,"
      " until INTEGER, grant_ms INTEGER, PRIMARY KEY(run, hash));"
      "CREATE TABLE IF NOT EXISTS allowed(run BLOB, id BLOB, until INTEGER,"
      " PRIMARY KEY(run, id));"
      "CREATE TABLE IF NOT EXISTS grants(run BLOB, subject BLOB, how TEXT,"
      " since INTEGER, until INTEGER, PRIMARY KEY(run, subject));"
      "CREATE TABLE IF NOT EXISTS machines(run BLOB, peer BLOB, subject BLOB,"
      " token INTEGER, PRIMARY KEY(run, peer));"
      "CREATE INDEX IF NOT EXISTS of_subject ON machines(run, subject);";

sha256_digest hash_of(const invite_code& code) {
  std::string bytes = "potluck invite code\n";
  append_id(bytes, code);
  return sha256(bytes);
}

} // namespace

/// One statement with what it is about; its columns from 0.
class authority_book::statement {
public:
  statement(sqlite3* db, const char* sql) {
    if (sqlite3_prepare_v2(db, sql, -1, &all_, nullptr) != SQLITE_OK)
      all_ = nullptr;
  }
  ~statement() {
    sqlite3_finalize(all_);
  }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  template <class Tag, std::size_t Size>
  statement& with(const identifier<Tag, Size>& x) {
    sqlite3_bind_blob(all_, ++bound_, x.bytes.data(), static_cast<int>(Size),
                      SQLITE_TRANSIENT);
    return *this;
  }
  statement& with(std::uint64_t x) {
    sqlite3_bind_int64(all_, ++bound_, static_cast<sqlite3_int64>(x));
    return *this;
  }
  statement& with(const char* x) {
    sqlite3_bind_text(all_, ++bound_, x, -1, SQLITE_TRANSIENT);
    return *this;
  }

  /// Whether there is a row, and then the next.
  bool row() {
    result_ = all_ ? sqlite3_step(all_) : SQLITE_ERROR;
    return result_ == SQLITE_ROW;
  }
  /// It has been carried out.
  bool done() {
    while (row()) {
    }
    return result_ == SQLITE_DONE;
  }
  std::uint64_t number(int column) const {
    return static_cast<std::uint64_t>(sqlite3_column_int64(all_, column));
  }
  std::string text(int column) const {
    auto x = reinterpret_cast<const char*>(sqlite3_column_text(all_, column));
    return x ? x : "";
  }
  peer_id id(int column) const {
    peer_id result;
    const auto x
        = static_cast<const std::uint8_t*>(sqlite3_column_blob(all_, column));
    if (x && sqlite3_column_bytes(all_, column) == int{peer_id::size})
      std::copy(x, x + peer_id::size, result.bytes.begin());
    return result;
  }

private:
  sqlite3_stmt* all_ = nullptr;
  int bound_ = 0;
  int result_ = SQLITE_ERROR;
};

void authority_book::closer::operator()(sqlite3* x) const {
  sqlite3_close(x);
}

failure authority_book::trouble(const std::string& what) const {
  return {"cannot " + what + " " + path_ + ": " + sqlite3_errmsg(db_.get())};
}

expected<authority_book> authority_book::open(const std::string& path) {
  sqlite3* db = nullptr;
  const auto opened = sqlite3_open_v2(path.c_str(), &db,
                                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                          | SQLITE_OPEN_FULLMUTEX,
                                      nullptr);
  authority_book result{db};
  result.path_ = path;
  if (opened != SQLITE_OK)
    return result.trouble("open");
  sqlite3_busy_timeout(db, patience_ms);
  if (auto made = result.execute(schema); !made)
    return failure{made.error()};
  return expected<authority_book>{std::move(result)};
}

expected<bool> authority_book::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr)
      != SQLITE_OK)
    return trouble("use");
  return true;
}

expected<bool> authority_book::begin() {
  return execute("BEGIN IMMEDIATE");
}

expected<bool> authority_book::commit() {
  auto done = execute("COMMIT");
  if (!done)
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

expected<bool> authority_book::add_code(const run_id& run,
                                        const invite_code& code,
                                        std::uint64_t uses,
                                        std::uint64_t until_ms,
                                        std::uint64_t grant_ms) {
  // A negative number of uses never comes to nought.
  statement add{db_.get(), "INSERT INTO codes VALUES(?,?,?,?,?)"};
  add.with(run).with(hash_of(code));
  add.with(uses == 0 ? ~std::uint64_t{0} : uses).with(until_ms).with(grant_ms);
  return add.done() ? expected<bool>{true} : trouble("write");
}

expected<bool> authority_book::allow(const run_id& run, const peer_id& who,
                                     std::uint64_t until_ms) {
  statement add{db_.get(), "INSERT OR REPLACE INTO allowed VALUES(?,?,?)"};
  add.with(run).with(who).with(until_ms);
  return add.done() ? expected<bool>{true} : trouble("write");
}

expected<bool> authority_book::revoke(const run_id& run, const peer_id& who) {
  int changed = 0;
  for (auto sql : {"DELETE FROM allowed WHERE run=? AND id=?",
                   // What was once ended is not granted by the same code again.
                   "UPDATE grants SET until=0 WHERE run=? AND until>0 AND "
                   "subject=?"}) {
    statement end{db_.get(), sql};
    if (!end.with(run).with(who).done())
      return trouble("write");
    changed += sqlite3_changes(db_.get());
  }
  return changed > 0;
}

expected<std::vector<authority_book::grant>>
authority_book::grants(const run_id& run) {
  std::vector<grant> result;
  statement all{db_.get(),
                "SELECT g.subject, g.how, g.since, g.until, COUNT(m.peer),"
                " MAX(m.token) FROM grants g LEFT JOIN machines m"
                " ON m.run=g.run AND m.subject=g.subject WHERE g.run=?"
                " GROUP BY g.subject ORDER BY g.since, g.subject"};
  all.with(run);
  while (all.row())
    result.push_back({all.id(0), all.text(1), all.number(2), all.number(3),
                      all.number(4), all.number(5)});
  return result;
}

std::uint64_t authority_book::granted_until(const run_id& run,
                                            const peer_id& subject,
                                            bool by_list) {
  statement x{db_.get(), by_list ? "SELECT until FROM grants WHERE run=? AND "
                                   "subject=? AND how<>'code'"
                                 : "SELECT until FROM grants WHERE run=? AND "
                                   "subject=?"};
  return x.with(run).with(subject).row() ? x.number(0) : 0;
}

expected<bool> authority_book::note_grant(const run_id& run,
                                          const peer_id& subject,
                                          const char* how, const terms& t,
                                          std::uint64_t until_ms) {
  statement x{db_.get(), "INSERT OR REPLACE INTO grants VALUES(?,?,?,?,?)"};
  x.with(run).with(subject).with(how).with(t.now_ms).with(until_ms);
  return x.done() ? expected<bool>{true} : trouble("write");
}

expected<authority_book::verdict>
authority_book::judge(const run_id& run, const peer_id& who,
                      const admission_claim& claim, const terms& t,
                      const signatures& believed) {
  const auto no = [](std::string why) {
    return verdict{0, false, std::move(why)};
  };
  // A machine of a person counts as that person.
  auto subject = who;
  if (claim.of) {
    auto problem = problem_with(*claim.of, who, t.now_ms, believed);
    if (!problem.empty())
      return no("The delegation of this machine is no good: it " + problem
                + "; make another one with `potluck delegate`.");
    subject = believed.owner_of(claim.of->person);
  }
  auto until = granted_until(run, subject, t.by_list);
  const bool revoked = [&] {
    statement x{db_.get(),
                "SELECT 1 FROM grants WHERE run=? AND subject=? AND until=0"};
    return x.with(run).with(subject).row();
  }();
  if (until <= t.now_ms) {
    const auto longest = std::min(t.now_ms + t.grant_ms, for_ever);
    until = 0;
    const char* how = nullptr;
    statement listed{db_.get(),
                     "SELECT until FROM allowed WHERE run=? AND id=?"};
    if (listed.with(run).with(subject).row() && listed.number(0) > t.now_ms) {
      until = std::min(listed.number(0), longest);
      how = "list";
    } else if (t.vetted) {
      until = longest;
      how = "program";
    } else if (t.by_list && !revoked) {
      return verdict{0, true,
                     "This run admits by its authority's list alone, whatever "
                     "invitation there was; ask the organiser to put the key "
                         + to_string(subject) + " on it."};
    } else if (!claim.code.empty() && !revoked) {
      const auto hash = hash_of(claim.code);
      statement code{db_.get(), "SELECT uses, until, grant_ms FROM codes "
                                "WHERE run=? AND hash=?"};
      if (!code.with(run).with(hash).row())
        return no("The authority does not know this invitation's code; ask the "
                  "organiser for another invitation.");
      if (code.number(1) <= t.now_ms)
        return no("This invitation has expired; ask the organiser for another "
                  "one.");
      if (code.number(0) == 0)
        return no("This invitation has been used as often as it may be; ask "
                  "the organiser for another one.");
      until = std::min(t.now_ms + code.number(2), for_ever);
      how = "code";
      statement use{db_.get(), "UPDATE codes SET uses=uses-1 WHERE run=? AND "
                               "hash=? AND uses>0"};
      if (!use.with(run).with(hash).done())
        return trouble("write");
    } else {
      return verdict{0, !revoked,
                     revoked ? "The authority has ended what it had granted to "
                               "this peer; ask the organiser."
                             : "The authority has nobody of this key on its "
                               "list, and the claim has no code; join with an "
                               "invitation that it has made, or have the "
                               "organiser add the key "
                                   + to_string(subject) + "."};
    }
    if (auto noted = note_grant(run, subject, how, t, until); !noted)
      return failure{noted.error()};
  }
  // One whose token has ended is in no more, whatever it was.
  statement known{db_.get(),
                  "SELECT 1 FROM machines WHERE run=? AND peer=? AND "
                  "subject=? AND token>?"};
  if (!known.with(run).with(who).with(subject).with(t.now_ms).row()) {
    statement count{db_.get(), "SELECT COUNT(*) FROM machines WHERE run=? AND "
                               "subject=? AND token>?"};
    count.with(run).with(subject).with(t.now_ms);
    if (count.row() && count.number(0) >= t.machines)
      return no("As many machines as one person may have are in the run "
                "already; end one of them.");
  }
  until = std::min(until, t.now_ms + t.token_ms);
  statement note{db_.get(), "INSERT OR REPLACE INTO machines VALUES(?,?,?,?)"};
  if (!note.with(run).with(who).with(subject).with(until).done())
    return trouble("write");
  return verdict{until, false, ""};
}

} // namespace potluck

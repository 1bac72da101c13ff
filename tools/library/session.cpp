#include "tools/library/session.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "runtime/lines/rate.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/optimizer/schedules/schedule.hpp"
#include "runtime/parallel_loop.hpp"
#include "runtime/portmap/mapping_keeper.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/run_manifest.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "runtime/vector_loops.hpp"
#include "tools/library/outside_model.hpp"
#include "tools/library/outside_trainer.hpp"
#include "tools/library/without_signals.hpp"
#include "tools/potluck/address_file.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/peer_setup.hpp"

namespace potluck::library {

namespace {

/// Of a run with the user's own files. Throws `complaint`.
charter charter_with(const run_settings& settings, const model_layout& layout,
                     const own_artifacts& files,
                     const artifact_folder& folder) {
  auto result = with_own_artifacts(
      {settings, charter_files{{layout_file, to_layout_text(layout)}}}, files,
      folder);
  if (!result)
    throw complaint{result.error()};
  return std::move(*result);
}

/// Why a run's tensors are not these; empty: they are.
std::string difference_from(const charter& run, const model_layout& here) {
  if (!is_tensors_model(run.settings().model))
    return "the run trains the model " + run.settings().model
           + ", which Potluck knows, and not the tensors of an outside loop; "
             "take part with `potluck join`";
  auto there = read_layout_text(run.file(layout_file));
  if (!there)
    return "the run's tensors cannot be read: " + there.error();
  auto difference = layout_difference(here, *there);
  return difference.empty() ? "" : "this model is not the run's: " + difference;
}

/// Copies what is worth its words to a field of the status.
template <std::size_t Size>
void put(char (&field)[Size], const std::string& text) {
  const auto length = std::min(text.size(), Size - 1);
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

} // namespace

// ---- before it is opened ----------------------------------------------------

void session::must_be(stage x) const {
  if (at_ == x)
    return;
  if (at_ == stage::closed)
    throw complaint{"the run is not opened yet; call potluck_open first"};
  throw complaint{
      x == stage::closed
          ? "the run is open; this has to be said before potluck_open"
          : "the run was left"};
}

void session::set(const std::string& name, const std::string& value) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  options_.set(name, value);
}

void session::declare(const std::string& name, std::vector<std::int64_t> shape,
                      bool decays, const float* values) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  if (auto problem = problem_with_tensor(layout_, name, shape);
      !problem.empty())
    throw complaint{problem};
  const auto& known = layout_.entries();
  if (std::any_of(known.begin(), known.end(),
                  [&](auto& x) { return x.name == name; }))
    throw complaint{"tensor " + name + " was declared already"};
  if (own_ && own_->parameters.size() != layout_.values())
    throw complaint{"declare all tensors before potluck_load or "
                    "potluck_set_moments"};
  auto whole = layout_;
  whole.add(name, std::move(shape), decays, 0, 0);
  const auto count = whole.entries().back().values;
  if (values && !all_finite(values, count))
    throw complaint{"the first values of tensor " + name
                        + " are not all finite",
                    POTLUCK_NOT_FINITE};
  if (!own_)
    own_ = std::make_shared<training_state>();
  if (values)
    own_->parameters.insert(own_->parameters.end(), values, values + count);
  else
    own_->parameters.resize(whole.values());
  layout_ = std::move(whole);
}

/// What training begins with here.
const training_state& session::own_state() {
  if (!own_)
    throw complaint{
        "the model has no tensors; declare them with potluck_tensor"};
  auto& x = *own_;
  potluck::set_moments(x, moments_kept(resumed_ ? resumed_->settings()
                                                : options_.settings("seed")));
  if (x.recent.empty())
    remember_digest(x);
  return x;
}

std::string session::first_digest() {
  return to_string(own_state().recent.front());
}

void session::load(const std::string& path) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  if (!own_)
    throw complaint{"declare the tensors before potluck_load"};
  auto saved = load_checkpoint(path);
  if (!saved)
    throw complaint{saved.error()};
  if (auto problem = difference_from(saved->charter, layout_); !problem.empty())
    throw complaint{path + ": " + problem};
  if (saved->state.parameters.size() != layout_.values())
    throw complaint{path + ": the training state does not fit its own tensors"};
  own_ = std::make_shared<training_state>(std::move(saved->state));
  if (own_->recent.empty())
    remember_digest(*own_);
  resumed_ = std::move(saved->charter);
  resumed_from_ = path;
  resumed_history_ = std::move(saved->history);
}

void session::set_moments(std::uint64_t step, const float* const* first,
                          const float* const* second) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  own_state();
  const auto settings = options_.settings("seed");
  if (step >= settings.steps)
    throw complaint{"step is " + std::to_string(step)
                    + ", but the run ends after "
                    + std::to_string(settings.steps)};
  for (auto* from : {first, second})
    for (const auto& x : layout_.entries()) {
      const auto index
          = static_cast<std::size_t>(&x - layout_.entries().data());
      if (from && from[index] && !all_finite(from[index], x.values))
        throw complaint{"a moment of tensor " + x.name + " is not finite",
                        POTLUCK_NOT_FINITE};
    }
  for (std::size_t i = 0; i < layout_.entries().size(); ++i) {
    const auto& x = layout_.entries()[i];
    const auto put = [&](const float* const* from, std::vector<float>& to) {
      if (from && from[i] && !to.empty())
        std::copy_n(from[i], x.values, to.data() + x.offset);
    };
    put(first, own_->first_moment);
    put(second, own_->second_moment);
  }
  own_->step = step;
  own_->history_samples = step * settings.target_batch;
  own_->recent.clear();
  remember_digest(*own_);
}

// ---- opening ----------------------------------------------------------------

std::string session::identity_folder() const {
  const auto folder = options_.text("identity-dir");
  return folder == "none" ? "" : folder;
}

/// Shared by this user's peers, so beside an identity that is not kept, too.
artifact_folder session::artifacts() const {
  auto folder = identity_folder();
  if (folder.empty())
    folder = tools::default_identity_directory();
  return artifact_folder{folder.empty() ? "" : folder + "/artifacts"};
}

std::vector<std::string> session::take_identity(peer_config& config) {
  std::vector<std::string> told;
  lock_.reset(); // Of a try that came to nothing.
  folder_ = identity_folder();
  if (!folder_.empty()) {
    auto held = identity::open(folder_);
    if (held) {
      key_ = held->key();
      lock_ = std::move(*held);
    } else if (options_.given("identity-dir")) {
      throw complaint{held.error()};
    } else {
      told.push_back("Using a temporary identity, since " + held.error());
      folder_.clear();
    }
  }
  if (!key_ || folder_.empty())
    key_ = key_pair::generate();
  config.self = key_->id();
  config.signs = signatures_of(*key_);
  uv_transport_options how;
  how.key = key_;
  how.max_upload = options_.rate("max-upload");
  how.max_download = options_.rate("max-download");
  how.insecure = options_.flag("insecure");
  config.upload_bytes_per_second = how.max_upload;
  config.download_bytes_per_second = how.max_download;
  config.make_transport = [how] { return make_uv_transport(how); };
  return told;
}

void session::accept_invitation(peer_config& config) {
  const auto& text = options_.text("invitation");
  if (text.empty()) {
    config.run = resumed_ ? resumed_->settings().run : options_.text("run");
    if (!id_in(config.run).empty())
      throw complaint{"run " + shown_run(config.run)
                      + " was created by somebody; set its invitation"};
    return;
  }
  auto to = read_invitation(text);
  if (!to)
    throw complaint{to.error()}; // Read once before.
  auto run = tools::run_invited(*to, folder_);
  if (!run)
    throw complaint{run.error()};
  if (resumed_ && !is_of_its_run(*resumed_, to->organiser))
    throw complaint{"the checkpoint is not of the run that the invitation is "
                    "to; fetch the state from others instead"};
  config.run = to->run();
  if (run->manifest)
    config.manifests[config.run] = run->manifest->to_bytes();
  for (const auto& who : tools::contacts_of(*to))
    if (who.id != config.self) // Nobody else is to be found there.
      tools::add_seeds(config, {who});
  config.papers = tools::papers_for({to->run(), {}, *to}, folder_, "");
  if (folder_.empty())
    return;
  config.amendments_folder = folder_;
  config.kept_states_folder
      = folder_ + "/" + run_file_name(config.run) + ".states";
}

void session::take_first_state(peer_config& config) {
  own_state();
  if (resumed_ && id_in(config.run).empty())
    for (const auto& x : config.demanded)
      if (x.name == "steps") // A trial belongs to those that hold it.
        resumed_ = tools::with_steps(*resumed_, whole_in(x.value));
  // Where the manifest is not here, others have it.
  if (id_in(config.run).empty() || config.manifests.count(config.run) > 0)
    config.known = resumed_;
  if (!resumed_ && !folder_.empty() && !id_in(config.run).empty()) {
    // Whoever created the run has to be able to begin it, whatever values its
    // program comes with this time.
    const auto path = tools::first_state_path(folder_, config.run);
    if (auto first = load_checkpoint(path);
        first && first->state.parameters.size() == layout_.values())
      own_ = std::make_shared<training_state>(std::move(first->state));
    own_state();
  }
  config.state = std::exchange(own_, nullptr);
  config.history = std::move(resumed_history_);
}

void session::take_part(peer_config& config, const run_settings& settings) {
  config.demanded = options_.demanded();
  if (options_.text("invitation").empty())
    config.propose = [settings, layout = layout_, files = options_.artifacts(),
                      folder = artifacts()] {
      return charter_with(settings, layout, files, folder);
    };
  config.own_artifacts = options_.artifacts();
  config.artifacts_folder = artifacts().path();
  // Read once before.
  config.max_artifacts
      = static_cast<std::uint64_t>(*read_bytes(options_.text("max-artifacts")));
  config.make_trainer = [layout = layout_, with = with_, heard = heard_,
                         learnt = learnt_](const charter& of) {
    if (auto problem = difference_from(of, layout); !problem.empty()) {
      heard->fail(problem);
      with->ends();
      throw std::runtime_error(problem);
    }
    {
      std::lock_guard<std::mutex> guard{learnt->mutex};
      learnt->agreed = of;
    }
    with->begins(of.settings().delayed_updates());
    return std::make_unique<outside_trainer>(layout, with);
  };
  config.vault = vault_;
  take_first_state(config);
}

void session::open() {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  const auto settings
      = options_.settings(only_calls() ? "seed" : first_digest());
  peer_config config;
  config.role = only_calls() ? role::expert : role::trainer;
  config.seed = tools::random_seed();
  config.nonce = tools::random_seed;
  config.wall_clock = wall_clock_ms;
  config.listen = options_.listened().front();
  config.also_listen.assign(options_.listened().begin() + 1,
                            options_.listened().end());
  tools::add_seeds(config, options_.peers());
  if (!options_.text("announce").empty())
    config.announce = *parse_address(options_.text("announce"));
  config.micro_batch = 0;
  config.always_computes = true;
  config.checkpoint_every = options_.integer("checkpoint-every");
  if (const auto path = options_.text("checkpoint"); !path.empty()) {
    if (auto tried = try_file(path); !tried)
      throw complaint{"checkpoint: " + tried.error()};
    config.checkpoints
        = std::make_shared<checkpoint_files>(checkpoint_files::places{
            path, {}, options_.integer("checkpoint-keep")});
    if (resumed_)
      config.checkpoints->resumes(resumed_from_, own_state());
  }
  const auto threads = options_.integer("threads");
  // The loop waits for the step, unless updates are delayed.
  const auto idle = std::thread::hardware_concurrency()
                    / (settings.delayed_updates() ? 2 : 1);
  config.threads
      = threads != 0 ? static_cast<unsigned>(threads) : std::max(1u, idle);
  threads_ = config.threads;
  std::optional<event_log> log;
  if (!options_.text("log-json").empty()) {
    auto opened = event_log::open(options_.text("log-json"));
    if (!opened)
      throw complaint{"log-json: " + opened.error()};
    log.emplace(std::move(*opened));
  }
  auto told = take_identity(config);
  accept_invitation(config);
  tools::notice_board notices;
  tools::keep_addresses(config, folder_, run_file_name(config.run) + ".peers",
                        notices);
  for (auto& x : notices.take())
    told.push_back(std::move(x));
  if (options_.flag("port-mapping") && !options_.flag("insecure"))
    config.mapper = make_port_mapper();
  {
    const without_signals unheard; // It has a thread.
    experts_ = std::make_shared<expert_client>();
  }
  config.expert_calls = experts_->line();
  config.relays_experts = options_.flag("relay-experts");
  if (!only_calls())
    take_part(config, settings);
  else if (config.seeds.empty())
    throw complaint{"whoever only calls experts has to find their run: set "
                    "peer to the HOST:PORT of one of its peers, or invitation"};
  if (log)
    heard_->write_to(std::move(*log));
  for (auto& sentence : told)
    heard_->hear(event{"notice", {{"message", sentence}}});
  peer_ = std::make_unique<hosted_peer>(std::move(config), heard_, with_);
  at_ = stage::open;
}

std::string session::create() {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  const auto folder = identity_folder();
  if (folder.empty())
    throw complaint{"a created run's files need a folder; set identity-dir"};
  if (!options_.text("invitation").empty())
    throw complaint{
        "the invitation is to a run that exists; open that instead"};
  auto own = identity::key_in(folder, "identity");
  auto organiser = identity::key_in(folder, "organiser");
  if (!own || !organiser)
    throw complaint{own ? organiser.error() : own.error()};
  std::vector<contact> contacts = options_.peers();
  if (!options_.text("announce").empty())
    contacts.insert(
        contacts.begin(),
        contact{own->id(), *parse_address(options_.text("announce"))});
  if (contacts.empty())
    throw complaint{
        "an invitation says where the run is found; set announce to "
        "the HOST:PORT at which others reach this peer"};
  const auto name = options_.text("run");
  const auto path = tools::manifest_path(folder, name);
  const auto draft = charter_with(options_.settings(first_digest()), layout_,
                                  options_.artifacts(), artifacts());
  auto signed_now = sign_charter(draft, *organiser);
  if (!signed_now)
    throw complaint{signed_now.error()};
  auto existing = tools::read_manifest_file(path);
  if (!existing)
    throw complaint{existing.error()};
  if (*existing && (*existing)->id() != signed_now->id())
    throw complaint{"you have created a run " + name
                    + " with other settings or tensors, and what it is never "
                      "changes; give the new one another name"};
  const invitation to{signed_now->name(),
                      signed_now->id(),
                      signed_now->organiser(),
                      std::move(contacts),
                      {}};
  auto text = to_text(to);
  if (!text)
    throw complaint{"no invitation: " + text.error()};
  if (!*existing) {
    auto of_run = charter_of(*signed_now);
    if (!of_run)
      throw complaint{of_run.error()};
    const auto first = tools::first_state_path(folder, to.run());
    if (auto kept = save_checkpoint(first, *of_run, *own_); !kept)
      throw complaint{kept.error()};
    const auto bytes = signed_now->to_bytes();
    if (auto done = replace_file(path, {{bytes.data(), bytes.size()}}); !done)
      throw complaint{done.error()};
  }
  options_.set("invitation", *text);
  return *text;
}

// ---- the loop ---------------------------------------------------------------

template <class Value>
Value* session::part(const tensors<Value>& of, std::size_t index) const {
  return of.flat ? of.flat + layout_.entries()[index].offset : of.each[index];
}

template <class Job>
void session::for_each_piece(Job job) const {
  struct piece {
    std::size_t tensor, begin, size;
  };
  std::vector<piece> pieces;
  const auto& all = layout_.entries();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t begin = 0; begin < all[i].values; begin += piece_values)
      pieces.push_back(
          {i, begin, std::min(piece_values, all[i].values - begin)});
  const auto threads = threads_for(layout_.values(), threads_);
  std::optional<without_signals> unheard;
  if (threads > 1)
    unheard.emplace();
  for_each_index(pieces.size(), threads, [&](std::size_t i) {
    job(pieces[i].tensor, pieces[i].begin, pieces[i].size);
  });
}

void session::add_to(float* sum, bool begins,
                     const tensors<const float>& gradients,
                     float weight) const {
  const auto& all = layout_.entries();
  std::vector<std::atomic<bool>> unfit(all.size());
  const auto refuse = [&] {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (unfit[i])
        throw complaint{"the gradient of tensor " + all[i].name
                            + " is not finite; leave this batch out",
                        POTLUCK_NOT_FINITE};
  };
  if (!begins) {
    for_each_piece([&](std::size_t i, std::size_t begin, std::size_t size) {
      if (auto* x = part(gradients, i); x && !all_finite(x + begin, size))
        unfit[i] = true;
    });
    refuse();
  }
  for_each_piece([&](std::size_t i, std::size_t begin, std::size_t size) {
    auto* to = sum + all[i].offset + begin;
    auto* x = part(gradients, i);
    if (!x && begins)
      std::fill_n(to, size, 0.0f);
    else if (x && !begins)
      add_scaled(to, x + begin, size, weight);
    else if (x
             && !begin_scaled(to, x + begin, size, weight,
                              writing_of(layout_.values())))
      unfit[i] = true;
  });
  refuse();
}

int session::add(tensors<const float> gradients, std::uint64_t samples,
                 double loss, duration patience) {
  std::optional<charter> run;
  {
    std::lock_guard<std::mutex> lock{mutex_};
    must_be(stage::open);
    must_train();
    run = agreed();
  }
  if (!with_->look().has_parameters || !run)
    throw complaint{"there is no parameter yet that this gradient could be of; "
                    "call potluck_take until it gives them"};
  const auto most = 2 * run->settings().target_batch;
  if (samples == 0 || samples > most)
    throw complaint{"samples is " + std::to_string(samples)
                    + ", but must be 1 to twice the target batch, which is "
                    + std::to_string(run->settings().target_batch)};
  if (!std::isfinite(loss))
    throw complaint{"the loss is not finite", POTLUCK_NOT_FINITE};
  switch (with_->add(samples, loss * static_cast<double>(samples), patience,
                     [&](float* sum, bool begins) {
                       add_to(sum, begins, gradients,
                              static_cast<float>(samples));
                     })) {
    case meeting::outcome::late:
      return POTLUCK_TIMEOUT;
    case meeting::outcome::over:
      break;
    default:
      return POTLUCK_OK;
  }
  if (const auto problem = heard_->look().problem; !problem.empty())
    throw complaint{problem, POTLUCK_FAILED};
  return POTLUCK_OVER;
}

int session::take(tensors<float> parameters, duration patience) {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    if (at_ == stage::closed)
      must_be(stage::open);
    must_train();
  }
  const auto& all = layout_.entries();
  switch (with_->take(patience, [&](const float* values) {
    for_each_piece([&](std::size_t i, std::size_t begin, std::size_t size) {
      if (auto* x = part(parameters, i))
        copy(x + begin, values + all[i].offset + begin, size,
             writing_of(layout_.values()));
    });
  })) {
    case meeting::outcome::done:
      return POTLUCK_OK;
    case meeting::outcome::same:
      return POTLUCK_SAME;
    case meeting::outcome::over:
      break;
    default:
      return POTLUCK_TIMEOUT;
  }
  if (const auto problem = heard_->look().problem; !problem.empty())
    throw complaint{problem, POTLUCK_FAILED};
  copy_last(parameters);
  return POTLUCK_OVER;
}

void session::copy_last(const tensors<float>& parameters) {
  read([&](const training_state& held) {
    const auto& all = layout_.entries();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (auto* x = part(parameters, i))
        std::copy_n(held.parameters.data() + all[i].offset, all[i].values, x);
    with_->took_last(held.step);
  });
}

void session::must_train() const {
  if (only_calls())
    throw complaint{"this handle has no tensors, so it calls experts and "
                    "trains nothing"};
}

expert_desk session::experts_of(unsigned long layer) const {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::open);
  const auto heard = heard_->look();
  if (!heard.problem.empty())
    throw complaint{heard.problem, POTLUCK_FAILED};
  if (heard.closed)
    throw complaint{"the run is over here; open a handle without tensors to "
                    "call its experts"};
  const auto run = agreed();
  auto called
      = experts_in(run ? run->settings() : options_.settings("seed"), layer);
  if (!called)
    throw complaint{called.error()};
  return {experts_, known_experts_, std::move(called->layer), called->width};
}

// ---- looking ----------------------------------------------------------------

template <class Job>
void session::read(Job job) const {
  const meeting::pause quiet{*with_};
  std::lock_guard<std::mutex> lock{vault_->busy};
  if (!vault_->state)
    throw complaint{"the run is not opened yet; call potluck_open first"};
  job(*vault_->state);
}

std::optional<charter> session::agreed() const {
  std::lock_guard<std::mutex> lock{learnt_->mutex};
  return learnt_->agreed;
}

std::string session::get(const std::string& name) const {
  std::lock_guard<std::mutex> lock{mutex_};
  if (name == "id") {
    if (!key_)
      throw complaint{"the peer has no id before potluck_open"};
    return to_string(key_->id());
  }
  if (name == "address")
    return heard_->look().address;
  const auto run = agreed();
  if (name == "settings") {
    std::string text;
    for (auto& x : run ? run->table() : to_table(options_.settings("seed")))
      text += x.name + "=" + x.value + "\n";
    return text;
  }
  if (name == "layout")
    return to_layout_text(layout_);
  const std::string artifact = "artifact:";
  if (name.compare(0, artifact.size(), artifact) == 0) {
    if (!run)
      throw complaint{"the run's artifacts are not here yet; call potluck_take "
                      "until it gives parameters"};
    auto path = artifacts().find(*run, name.substr(artifact.size()));
    if (!path)
      throw complaint{path.error()};
    return *path;
  }
  if (run)
    for (auto& x : to_table(run->settings()))
      if (x.name == name && name != "run")
        return x.value;
  return options_.get(name);
}

void session::look(struct potluck_status& x) const {
  std::lock_guard<std::mutex> lock{mutex_};
  const auto heard = heard_->look();
  const auto figures = with_->look();
  const auto run = agreed();
  const auto& last = heard.last;
  x.step = last.step;
  x.steps = last.steps;
  x.peers = at_ == stage::open ? std::max(1u, last.peers) : 0;
  x.samples = last.samples;
  x.target = run ? run->settings().target_batch : 0;
  x.own = figures.samples;
  x.stale = figures.stale;
  x.taken = figures.taken;
  x.loss = last.loss;
  x.rate = last.samples_per_second;
  x.share = last.own_share;
  x.learning_rate
      = run ? learning_rate_at(run->settings(), figures.taken + 1) : 0;
  x.progress = figures.has_parameters ? 1 : heard.progress;
  std::string phase = to_string(last.phase);
  if (at_ == stage::closed)
    phase = "closed";
  else if (!heard.problem.empty())
    phase = "failed";
  else if (heard.finished)
    phase = "finished";
  else if (at_ != stage::open || heard.closed)
    phase = "left";
  else if (only_calls())
    phase = "calling";
  else if (last.phase == potluck::phase::founding)
    phase = "joining";
  put(x.phase, phase);
  put(x.trouble, heard.problem.empty() ? last.trouble : heard.problem);
}

std::optional<std::string> session::next_event(std::size_t room,
                                               duration patience) {
  return heard_->next(room, patience);
}

std::string session::digest() const {
  std::string result;
  read([&](const training_state& held) {
    result = to_string(held.recent.empty() ? digest_of_state(held)
                                           : held.recent.front());
  });
  return result;
}

void session::save(const std::string& path) const {
  const auto run = agreed();
  if (!run)
    throw complaint{"the run's settings are not known yet; call potluck_take "
                    "until it gives parameters"};
  read([&](const training_state& held) {
    if (auto done = save_checkpoint(path, *run, held); !done)
      throw complaint{done.error()};
  });
}

std::uint64_t session::moments(float* const* first,
                               float* const* second) const {
  std::uint64_t step = 0;
  read([&](const training_state& held) {
    const auto& all = layout_.entries();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto give = [&](const std::vector<float>& from, float* const* to) {
        if (to && to[i] && from.empty())
          std::fill_n(to[i], all[i].values, 0.0f);
        else if (to && to[i])
          std::copy_n(from.data() + all[i].offset, all[i].values, to[i]);
      };
      give(held.first_moment, first);
      give(held.second_moment, second);
    }
    step = held.step;
  });
  return step;
}

// ---- the end ----------------------------------------------------------------

void session::begin_to_leave() {
  std::lock_guard<std::mutex> lock{mutex_};
  if (at_ != stage::open)
    return;
  at_ = stage::leaving;
  with_->ends();
  peer_->leave();
}

int session::leave(duration patience) {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    if (at_ == stage::left)
      return POTLUCK_OK;
    if (at_ == stage::closed)
      must_be(stage::open);
  }
  if (heard_->look().finished)
    heard_->wait_for_end(patience / 2, true);
  begin_to_leave();
  if (!heard_->wait_for_end(patience, false))
    return POTLUCK_TIMEOUT;
  std::lock_guard<std::mutex> lock{mutex_};
  peer_.reset(); // Its actors are gone, so this takes no time.
  lock_.reset();
  at_ = stage::left;
  return POTLUCK_OK;
}

void session::fail_with(const std::string& sentence) {
  std::lock_guard<std::mutex> lock{learnt_->mutex};
  learnt_->problem = sentence;
}

std::string session::problem() const {
  {
    std::lock_guard<std::mutex> lock{learnt_->mutex};
    if (!learnt_->problem.empty())
      return learnt_->problem;
  }
  return heard_->look().problem;
}

} // namespace potluck::library

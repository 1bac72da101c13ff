/* potluck.h: take part in a run of Potluck from a training loop of your own.
 *
 * Plain C (C89), for any language that can call C. The loop computes
 * gradients with whatever it likes; Potluck finds the others, averages with
 * them, takes the optimizer step, equal to the bit everywhere, and gives the
 * new parameters back.
 *
 *     potluck_run run = potluck_new();
 *     potluck_set(run, "run", "poems");
 *     potluck_set(run, "peer", "seed.example.org:7000");
 *     potluck_set(run, "target-batch", "4096");
 *     potluck_tensor(run, "weight", shape, 2, POTLUCK_DECAYS, weight);
 *     potluck_tensor(run, "bias", shape, 1, POTLUCK_FIXED, bias);
 *     if (potluck_open(run) != POTLUCK_OK)
 *       complain(potluck_error(run));
 *     while (potluck_take(run, tensors, 1.0) == POTLUCK_TIMEOUT)
 *       ;                                    joining
 *     for (;;) {
 *       loss = compute(tensors, gradients);
 *       do                                   both wait only while they must
 *         outcome = potluck_add(run, gradients, samples, loss, 1.0);
 *       while (outcome == POTLUCK_TIMEOUT);
 *       do
 *         outcome = potluck_take(run, tensors, 1.0);
 *       while (outcome == POTLUCK_TIMEOUT);
 *       if (outcome < 0 || outcome == POTLUCK_OVER)
 *         break;
 *     }
 *     potluck_leave(run, 2.0);
 *     potluck_free(run);
 *
 * RUNS. A handle is a number; 0 is none. A process may have several handles,
 * each of them in a run of its own: up to 64.
 *
 * RESULTS. Functions that return int give one of the results below. Mistakes
 * are negative, change nothing, and leave a sentence that names the mend in
 * `potluck_error`.
 *
 * THREADS. Every function may be called from any thread at any time. Calls
 * that wait, those with `seconds`, hold nothing meanwhile: other calls on the same handle go on. What two threads give to
 * potluck_add is added in either order, each whole. Memory that is handed in
 * must not change during the call, and is not used after it.
 *
 * SIGNALS. No thread of Potluck's takes a signal of the process. No call may
 * be made from a signal handler.
 *
 * FORK. After potluck_open only the process that called it may use Potluck:
 * in a child every call fails with POTLUCK_FORKED. Fork before, or start
 * other processes by exec.
 *
 * EXIT. A process may exit without leaving: the others are told goodbye. Where
 * that takes longer than a second the process ends at once, and what was
 * registered with atexit before potluck_open is not called.
 *
 * NUMBERS. Counts are unsigned long, which has 64 bits on all systems that
 * this runs on. Times are seconds. Values are float (IEEE 754, 32 bits).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef POTLUCK_H
#define POTLUCK_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define POTLUCK_API __attribute__((visibility("default")))
#else
#define POTLUCK_API
#endif

/* Of this file. The library of another interface may lack functions, or take
 * other arguments: compare it with `potluck_interface()`. */
#define POTLUCK_INTERFACE 2

/* A handle. */
typedef unsigned long potluck_run;

/* ---- results ------------------------------------------------------------ */

#define POTLUCK_OK 0
/* potluck_take: nothing is new, go on with the parameters that you have. */
#define POTLUCK_SAME 1
/* The time is up, and what was waited for has not come. */
#define POTLUCK_TIMEOUT 2
/* The run is over here: it has made its last step, or this peer has left. */
#define POTLUCK_OVER 3

/* A wrong argument, name, value, shape or order of calls. */
#define POTLUCK_MISTAKE (-1)
/* No such handle, or one that was freed. */
#define POTLUCK_NO_RUN (-2)
/* A gradient or loss is not finite. Nothing was added. */
#define POTLUCK_NOT_FINITE (-3)
/* The peer has ended because of a problem. */
#define POTLUCK_FAILED (-4)
/* This process was forked after potluck_open. */
#define POTLUCK_FORKED (-5)
/* No expert was found, or none has answered. It may mend itself. */
#define POTLUCK_NO_EXPERTS (-6)

/* ---- the library -------------------------------------------------------- */

/* The version, "0.1.0" for instance. */
POTLUCK_API const char *potluck_version(void);

/* POTLUCK_INTERFACE as the library has it. */
POTLUCK_API int potluck_interface(void);

/* ---- before a run is opened --------------------------------------------- */

/* A new handle; 0 when there are 64 already, or after a fork. */
POTLUCK_API potluck_run potluck_new(void);

/* Sets an option of this peer, or a setting of the run, from text. May be
 * called until the run is opened. Options:
 *
 *   run             name of the run (a trial; whoever is first founds it)
 *   invitation      or that of a run that somebody created
 *   peer            [ID@]HOST:PORT of a peer to contact first; each call adds
 *   listen          HOST:PORT (default 0.0.0.0:0: any free port); each call
 *                   after the first adds
 *   announce        HOST:PORT at which others reach this peer
 *   identity-dir    folder of this peer's key and files (default: potluck in
 *                   the user's state directory; while another peer uses that,
 *                   a temporary identity); "none": a temporary one
 *   artifact        NAME=FILE: a file of up to 256 MiB that all peers of the
 *                   run have, if this peer founds or creates it, or an own
 *                   copy of the run's; each call adds, up to 16
 *   max-artifacts   the most of this machine's disk that artifacts of runs
 *                   may take (default 2GB)
 *   port-mapping    yes or no: ask the home's router for a port (default yes)
 *   max-upload, max-download    "10mbit" or "500kB"
 *   checkpoint      file to write the training state to (default: none)
 *   checkpoint-every   steps between two of them (default 100; 0: at the end)
 *   checkpoint-keep    the newest so many are kept, older ones as FILE.STEP
 *                      (default 3)
 *   threads         of the step's passes over all values (default: the
 *                   cores; half of them where updates are delayed)
 *   log-json        file that gets a line of JSON for each event
 *   insecure        yes or no: no encryption, on loopback only; for measuring
 *   relay-experts   yes or no: call experts through hubs, too, where no other
 *                   line leads to their host and it allows that (default no)
 *
 * Every other name is a setting of the run, as `potluck join --help` lists
 * them: target-batch, learning-rate, steps, updates (synchronous or delayed),
 * optimizer and, in any order, what the chosen optimizer alone has, and so on.
 * Whoever founds or creates the run fixes all settings; a peer that joins must
 * not have set one to another value. `model` and `initial` follow from the
 * tensors. A run whose loop calls experts on other machines says which:
 *
 *   experts             their name: those of layer L are EXPERTS.L.I.J...
 *   expert-grid         how many a layer has in each dimension (default 4x4)
 *   experts-per-sample  that a layer calls for a sample (default 4)
 *   expert-values       of a sample, there and back (default 1024)
 *   call-packing        how values travel: float32 (default), float16,
 *                       bfloat16 or int8
 */
POTLUCK_API int potluck_set(potluck_run run, const char *name,
                            const char *value);

/* Copies the value of an option or setting in effect to `text`, which has
 * room for `size` characters, the final 0 included, and cuts it there. Once
 * the run's settings are known, after the first potluck_take for sure, these
 * are the run's. Besides the names of potluck_set:
 *
 *   id        of this peer, 64 hex digits; once the run is opened
 *   address   HOST:PORT at which it listens; empty until it does
 *   settings  all settings of the run, NAME=VALUE lines
 *   artifact:NAME   path of the run's artifact on this machine; it was
 *             fetched from others, where it had to be, before the first
 *             potluck_take gave parameters, and is compared with its SHA-256
 *             now. Nobody may change that file.
 *
 * `text` may be null if `size` is 0. Returns the value's length; negative on
 * a mistake. */
POTLUCK_API long potluck_get(potluck_run run, const char *name, char *text,
                             unsigned long size);

/* Of potluck_tensor: whether weight decay and, for LAMB, the trust ratio
 * apply. They should not to biases and norms. */
#define POTLUCK_DECAYS 1
#define POTLUCK_FIXED 0

/* Declares the next tensor of the model, before the run is opened. All peers
 * of a run declare the same names and shapes in the same order.
 *
 * name        1 to 200 printable ASCII characters without spaces; only once
 * shape       `dimensions` extents, each at least 1; 0 to 8 dimensions
 * values      as many floats as the shape has, in C order: where training
 *             begins, if this peer founds or creates the run. Others get the
 *             founder's. Null: zeros. */
POTLUCK_API int potluck_tensor(potluck_run run, const char *name,
                               const long *shape, int dimensions, int decays,
                               const float *values);

/* Creates a run instead of a trial that anybody could found: lays down the
 * settings and the first parameters, signs them with the organiser's key in
 * the identity directory, and copies the invitation to `invitation`, which
 * has room for `size` characters (4096 suffice). Needs the settings, all
 * tensors with their values, `run` as the name, and `announce`: where others
 * will reach the peer of this identity directory; or instead of that `peer`
 * with ids. potluck_open then opens it. A run of that name that was created
 * here before is found again if settings and tensors are the same. */
POTLUCK_API int potluck_create(potluck_run run, char *invitation,
                               unsigned long size);

/* Loads a checkpoint of the same tensors, and continues from it. The run and
 * its settings are the checkpoint's. Before the run is opened. */
POTLUCK_API int potluck_load(potluck_run run, const char *path);

/* ---- a run --------------------------------------------------------------- */

/* Opens the run: connects, joins or founds it. Returns at once; what follows
 * happens beside the caller. potluck_take waits for it. */
POTLUCK_API int potluck_open(potluck_run run);

/* Adds what a batch gave: the gradient of the batch's *mean* loss, for each
 * tensor in the order of declaration, float32, in C order; how many samples
 * it is the mean over; and that mean loss. It counts if it was computed with
 * parameters that the run has not left behind: with those of the present
 * step, or where updates are delayed with those of the one before. Else it is
 * dropped and counted in potluck_status.stale; the call succeeds. Batches of
 * three seconds or less are seldom dropped: others wait for them so long.
 *
 * Waits up to `seconds` while the others make a step without this batch, to
 * see whether it will count then. POTLUCK_TIMEOUT: nothing was added; call
 * again. POTLUCK_OVER: nobody needs it any more. A null in `gradients` is a
 * gradient of zeros. Not before the first potluck_take. At most twice the
 * target batch in one call.
 *
 * POTLUCK_NOT_FINITE names the first tensor that has a value which is not
 * finite; then nothing was added. */
POTLUCK_API int potluck_add(potluck_run run, const float *const *gradients,
                            unsigned long samples, double loss,
                            double seconds);

/* The same, from one vector that holds the tensors behind each other. */
POTLUCK_API int potluck_add_flat(potluck_run run, const float *gradient,
                                 unsigned long samples, double loss,
                                 double seconds);

/* Says how to go on, and copies the parameters where they are new.
 *
 * POTLUCK_OK       the parameters have changed since the last call that gave
 *                  this; they are in `parameters` (a pointer for each tensor,
 *                  as in potluck_add; null leaves that tensor out)
 * POTLUCK_SAME     they have not: compute the next batch
 * POTLUCK_TIMEOUT  neither: the run is being joined, or the batch for this
 *                  step is complete and being averaged; call again
 * POTLUCK_OVER     the run has made its last step, or was left: the last
 *                  parameters are in `parameters`
 *
 * Waits up to `seconds` (0: not at all) while nothing useful can be
 * computed, and returns at once otherwise. Where updates are delayed there
 * is something to compute most of the time. */
POTLUCK_API int potluck_take(potluck_run run, float *const *parameters,
                             double seconds);

/* The same, into one vector. */
POTLUCK_API int potluck_take_flat(potluck_run run, float *parameters,
                                  double seconds);

/* What is known at a glance. Set `size` to sizeof(struct potluck_status)
 * before the call; newer libraries fill no more than that. Later interfaces
 * add fields at the end. */
struct potluck_status {
  unsigned long size;
  unsigned long step;    /* optimizer steps made, of the state held here */
  unsigned long steps;   /* of the run; 0 while unknown */
  unsigned long peers;   /* that take part, this one included */
  unsigned long samples; /* of all peers for the next step, so far */
  unsigned long target;  /* at which it is made; 0 while unknown */
  unsigned long own;     /* samples added here since the run was opened */
  unsigned long stale;   /* of them, dropped: their parameters were too old */
  unsigned long taken;   /* the step of the parameters taken last */
  double loss;           /* mean, in the last step */
  double rate;           /* samples a second, of all peers */
  double share;          /* of the last step's samples, of this peer, 0 to 1 */
  double learning_rate;  /* of the next step */
  double progress;       /* of joining: 0 to 1; 1 once there are parameters */
  char phase[32];        /* closed, joining, accumulating, waiting,
                            matchmaking, averaging, calling (experts only),
                            finished, failed, left */
  char trouble[256];     /* why it does not go on, or well; may be empty */
};

POTLUCK_API int potluck_status(potluck_run run, struct potluck_status *status);

/* Copies the next event, one JSON object (runtime/README.md lists them), to
 * `text`, which has room for `size` characters with the final 0. Waits up to
 * `seconds` for one. Returns its length; 0 when there is none in that time.
 * Where the length is `size` or more, nothing was taken: call again with more
 * room. The oldest events are dropped when 4096 wait. */
POTLUCK_API long potluck_event(potluck_run run, char *text, unsigned long size,
                               double seconds);

/* ---- experts on other machines ------------------------------------------- */

/* A mixture of experts (Ryabinin and Gusev 2020): small networks on a grid, at
 * peers of the run that `potluck expert` makes hosts. Others call them with
 * samples, and teach them by handing gradients back. Which ones a sample gets
 * is decided by scores that the loop computes: one for each coordinate of each
 * dimension, whose sums are the experts' scores. In the loop of a run whose
 * settings say which experts there are:
 *
 *     scores = gate(inputs)
 *     potluck_find_experts(run, 0, samples, scores, places, 0, 30.0)
 *     potluck_forward(run, 0, samples, places, inputs, outputs, answered, 30.0)
 *     result = the sum of the outputs that were answered, weighted by the
 *              softmax of these experts' scores
 *     potluck_backward(run, 0, samples, places, inputs, gradients,
 *                      input_gradients, answered, 30.0)
 *
 * A handle without tensors, with `experts`, and with `peer` or `invitation`,
 * calls experts only: it takes no part in training, and potluck_add and
 * potluck_take are mistakes there. Its settings are those that were set.
 *
 * `layer` is 0 to 255. With k for experts-per-sample, d for the dimensions of
 * the grid, c for the coordinates of them all (8 where it is 4x4), and v for
 * expert-values:
 *
 *   scores     [samples, c]     of the first dimension's coordinates, then the
 *                               second's, ...; finite
 *   places     [samples, k, d]  coordinates of each sample's experts, the best
 *                               first; -1 where there are fewer
 *   alive      [c]              1 for coordinates that some expert has, else 0
 *   inputs     [samples, v]     finite
 *   outputs    [samples, k, v]  zeros where nobody has answered
 *   answered   [samples, k]     1 or 0
 *   gradients  [samples, k, v]  of the loss by outputs; finite
 *
 * At most 1,048,576 samples. Each of the three waits up to `seconds` (at least
 * a millisecond, at most an hour); for whoever has not answered a second after
 * a sample's first answer it waits no longer. They may be called from any
 * number of threads at once. POTLUCK_NO_EXPERTS: nothing was found, or nobody
 * has answered. */

/* Finds the k living experts with the best scores, for each sample. `alive` may
 * be null. What was found is believed for three seconds. */
POTLUCK_API int potluck_find_experts(potluck_run run, unsigned long layer,
                                     unsigned long samples,
                                     const float *scores, int *places,
                                     unsigned char *alive, double seconds);

/* Calls these experts with these inputs. Who fails or is late is left out: its
 * outputs are zeros, and `answered` tells. */
POTLUCK_API int potluck_forward(potluck_run run, unsigned long layer,
                                unsigned long samples, const int *places,
                                const float *inputs, float *outputs,
                                unsigned char *answered, double seconds);

/* Hands gradients back to those of them that are 1 in `answered`, which learn
 * from them at once. `input_gradients` [samples, v] gets the sum of what they
 * answer; null: nobody wants it. Who fails is 0 in `answered` then, and
 * contributes nothing; that this are all is no mistake. */
POTLUCK_API int potluck_backward(potluck_run run, unsigned long layer,
                                 unsigned long samples, const int *places,
                                 const float *inputs, const float *gradients,
                                 float *input_gradients,
                                 unsigned char *answered, double seconds);

/* ---- the training state -------------------------------------------------- */

/* Copies the digest of the state held, 32 hex digits and a 0: of step,
 * parameters and moments. Equal at all peers after each step. Once the run
 * is opened. */
POTLUCK_API int potluck_digest(potluck_run run, char digest[33]);

/* Writes a checkpoint of the state held now; `potluck export` and
 * `potluck_load` read it. */
POTLUCK_API int potluck_save(potluck_run run, const char *path);

/* Copies the optimizer's state: step, and a pointer for each tensor to what
 * gets its first and second moment, which is zero where the run's optimizer
 * keeps none. Null leaves a step, a list or a tensor out. */
POTLUCK_API int potluck_moments(potluck_run run, unsigned long *step,
                                float *const *first, float *const *second);

/* Begins with this optimizer state, and with the values of the tensors as its
 * parameters. Before the run is opened, with all tensors declared. A run that
 * is ahead counts more. Moments that the optimizer does not keep are left. */
POTLUCK_API int potluck_set_moments(potluck_run run, unsigned long step,
                                    const float *const *first,
                                    const float *const *second);

/* ---- the end ------------------------------------------------------------- */

/* Says goodbye to the others and closes the run, which takes a moment. Waits
 * up to `seconds`; POTLUCK_TIMEOUT: it is still closing. Where the run has
 * made its last step, the first half of that time is for others that are not
 * there yet, and for the checkpoint. The last state can still be read. */
POTLUCK_API int potluck_leave(potluck_run run, double seconds);

/* Gives the handle back, leaving within half a second if need be. */
POTLUCK_API int potluck_free(potluck_run run);

/* What went wrong in the last call on this handle that failed, or why the
 * peer has ended: one sentence; empty when nothing did. Of handle 0: what was
 * wrong with the last call on no handle. It stays until the same thread calls
 * this again. Never null. */
POTLUCK_API const char *potluck_error(potluck_run run);

#ifdef __cplusplus
}
#endif

#endif

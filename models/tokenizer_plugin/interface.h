/* The C interface between potluck and the shared object that contains
 * SentencePiece. Nothing but plain C crosses it: the two sides may hold
 * different copies of the same C++ library (README.md beside this says why).
 *
 * Every function is safe to call from any thread; one handle serves many
 * threads at once. Results arrive through a sink, called exactly once before
 * the function returns. A function that can fail returns 1 on success and 0
 * after having called its sink with the reason, in UTF-8. */
#ifndef POTLUCK_TOKENIZER_PLUGIN_INTERFACE_H
#define POTLUCK_TOKENIZER_PLUGIN_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever the table below changes. */
#define POTLUCK_TOKENIZER_INTERFACE_VERSION 1

/* Takes `size` bytes that are valid during the call only. */
typedef void (*potluck_bytes_sink)(void* context, const void* bytes,
                                   size_t size);

typedef struct potluck_tokenizer_interface {
  uint32_t version;

  /* Learns at most `vocabulary` pieces from `count` sentences; sinks the
   * serialized model. `character_coverage` is the share of the text's
   * characters that get a piece of their own, 0 to 1. */
  int (*learn)(const char* const* sentences, const size_t* sizes, size_t count,
               uint32_t vocabulary, double character_coverage,
               potluck_bytes_sink sink, void* context);

  /* Opens a serialized model; sinks nothing but a failure's reason. */
  int (*open)(const void* model, size_t size, void** handle,
              potluck_bytes_sink sink, void* context);
  void (*close)(void* handle);

  uint32_t (*vocabulary)(const void* handle);

  /* The piece with this number; an empty string for a number out of range. */
  void (*piece)(const void* handle, uint32_t id, potluck_bytes_sink sink,
                void* context);

  /* Sinks the pieces' numbers as an array of int32_t. */
  int (*encode)(const void* handle, const char* text, size_t size,
                potluck_bytes_sink sink, void* context);

  /* Sinks UTF-8. Numbers out of range are left out. */
  int (*decode)(const void* handle, const int32_t* ids, size_t count,
                potluck_bytes_sink sink, void* context);
} potluck_tokenizer_interface;

/* The one symbol that the shared object exports, and its type. */
#define POTLUCK_TOKENIZER_SYMBOL "potluck_tokenizer_plugin"
typedef const potluck_tokenizer_interface* (*potluck_tokenizer_entry)(void);

#ifdef __cplusplus
}
#endif

#endif

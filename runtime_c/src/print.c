// Lines that a program writes. Whoever made the context may want them (Python does, which
// writes them as `print` does); else they go to C's streams, as Python would write them.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

void chad_set_print(chad_context_t *const context,
                    int32_t (*const callback)(void *line)) {
  ((chad_state_t *)context)->print = callback;
}

void chad_print_integer(chad_context_t *const context, const int64_t value) {
  chad_state_t *const state = (chad_state_t *)context;
  if (state->word_count < CHAD_LINE_WORDS) {
    state->words[state->word_count++] = value;
  }
}

void chad_print_real(chad_context_t *const context, const double value) {
  int64_t word = 0;
  memcpy(&word, &value, sizeof word);
  chad_print_integer(context, word);
}

void chad_print_address(chad_context_t *const context, const void *const value) {
  chad_print_integer(context, (int64_t)(intptr_t)value);
}

// --- As Python writes --------------------------------------------------------------

// A format specification, `[align][sign][0][width][.precision][type]`.
typedef struct spec {
  bool single;  // of an f32 as such: there is a conversion in front
  char align;  // 0: to the right, as numbers stand
  char sign;   // 0: that of negative numbers only
  bool zeros;
  int width;
  int precision;  // -1: not given
  char type;      // 0: not given
} spec_t;

enum { NUMBER = 400, DIGITS = 17 };

// The shortest digits that are read as the same number: those of f32 if it is one.
static int shortest(char *const text, const double value, const bool single) {
  for (int digits = 1; digits < DIGITS; ++digits) {
    (void)snprintf(text, NUMBER, "%.*e", digits - 1, value);
    if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) {
      return digits;
    }
  }
  (void)snprintf(text, NUMBER, "%.*e", DIGITS - 1, value);
  return DIGITS;
}

static void real_text(char *const text, const double value, const bool single) {
  if (value != value || value - value != 0.0) {
    (void)snprintf(text, NUMBER, "%s", value != value ? "nan" : value > 0 ? "inf" : "-inf");
    return;
  }
  const int digits = shortest(text, value, single);
  const int exponent = atoi(strchr(text, 'e') + 1);
  if (exponent >= -4 && exponent < 16) {
    const int behind = digits - 1 - exponent;
    (void)snprintf(text, NUMBER, "%.*f", behind > 1 ? behind : 1, value);
  }
}

static void formatted(char *const text, const spec_t *const spec, const double value,
                      const bool single) {
  const int precision = spec->precision < 0 ? 6 : spec->precision;
  switch (spec->type) {
    case 'e':
      (void)snprintf(text, NUMBER, "%.*e", precision, value);
      break;
    case 'E':
      (void)snprintf(text, NUMBER, "%.*E", precision, value);
      break;
    case 'f':
    case 'F':
      (void)snprintf(text, NUMBER, "%.*f", precision, value);
      break;
    case '%':
      (void)snprintf(text, NUMBER, "%.*f%%", precision, 100.0 * value);
      break;
    case 'G':
      (void)snprintf(text, NUMBER, "%.*G", precision, value);
      break;
    default:
      if (spec->type == 0 && spec->precision < 0) {
        real_text(text, value, single);
      } else {
        (void)snprintf(text, NUMBER, "%.*g", precision, value);
      }
  }
}

// Writes a text with what its specification adds: a sign, and so many characters.
static void padded(FILE *const out, const char *text, const spec_t *const spec) {
  const bool negative = *text == '-';
  const char sign = negative ? '-' : spec->sign == '+' || spec->sign == ' ' ? spec->sign : 0;
  text += negative ? 1 : 0;
  const int length = (int)strlen(text) + (sign != 0 ? 1 : 0);
  const int room = spec->width > length ? spec->width - length : 0;
  const int left = spec->align == '<' ? 0 : spec->align == '^' ? room / 2 : room;
  for (int k = 0; k < left && !spec->zeros; ++k) {
    (void)fputc(' ', out);
  }
  if (sign != 0) {
    (void)fputc(sign, out);
  }
  for (int k = 0; k < left && spec->zeros; ++k) {
    (void)fputc('0', out);
  }
  (void)fputs(text, out);
  for (int k = left; k < room; ++k) {
    (void)fputc(' ', out);
  }
}

static void number(FILE *const out, const char kind, const int64_t word,
                   const spec_t *const spec) {
  char text[NUMBER];
  if (kind == 'i') {
    (void)snprintf(text, sizeof text, "%" PRId64, word);
  } else if (kind == 'b') {
    (void)snprintf(text, sizeof text, "%s", word != 0 ? "True" : "False");
  }
  if (kind == 'd' || kind == 's' || (kind == 'i' && spec->type != 0 && spec->type != 'd')) {
    double value = (double)word;
    if (kind != 'i') {
      memcpy(&value, &word, sizeof value);
    }
    formatted(text, spec, value, kind == 's' && spec->single);
  }
  padded(out, text, spec);
}

// An element of an array, which takes so many bytes, as a word.
static int64_t element(const char kind, const char *const at, const int64_t bytes) {
  int64_t word = 0;
  if (kind == 's' && bytes == (int64_t)sizeof(float)) {
    float single = 0;
    memcpy(&single, at, sizeof single);
    const double value = (double)single;
    memcpy(&word, &value, sizeof word);
  } else if (bytes == 1) {
    word = *(const unsigned char *)at;
  } else {
    memcpy(&word, at, sizeof word);
  }
  return word;
}

// An array as nested lists. `dims` are what is left of its dimensions.
static const char *elements(FILE *const out, const char kind, const char *at,
                            const int64_t bytes, const int64_t *const dims,
                            const int rank, const bool list) {
  const spec_t plain = {true, 0, 0, false, 0, -1, 0};
  if (rank == 0) {
    number(out, kind, element(kind, at, bytes), &plain);
    return at + bytes;
  }
  (void)fputc('[', out);
  for (int64_t k = 0; k < dims[0]; ++k) {
    (void)fputs(k == 0 ? "" : list ? ", " : " ", out);
    at = elements(out, kind, at, bytes, dims + 1, rank - 1, list);
  }
  (void)fputc(']', out);
  return at;
}

// The specification in a field, `{0!r:.3f}`; `text` is behind its number.
static spec_t specification(const char *text) {
  spec_t spec = {*text == '!', 0, 0, false, 0, -1, 0};
  text += spec.single ? 2 : 0;
  if (*text != ':') {
    return spec;
  }
  ++text;
  if (*text != 0 && strchr("<>^", *text) != NULL) {
    spec.align = *text++;
  }
  if (*text != 0 && strchr("+- ", *text) != NULL) {
    spec.sign = *text++;
  }
  spec.zeros = *text == '0';
  for (; *text >= '0' && *text <= '9'; ++text) {
    spec.width = 10 * spec.width + (*text - '0');
  }
  if (*text == '.') {
    spec.precision = 0;
    for (++text; *text >= '0' && *text <= '9'; ++text) {
      spec.precision = 10 * spec.precision + (*text - '0');
    }
  }
  spec.type = *text == '}' ? 0 : *text;
  return spec;
}

// Writes the value that the kinds and words say is this one.
static void field(FILE *const out, const chad_line_t *const line, const int64_t which,
                  const spec_t *const spec) {
  const int64_t *word = line->words;
  const char *kind = line->kinds;
  for (int64_t k = 0; k < which; ++k) {
    const bool many = *kind == 'a' || *kind == 'l';
    word += many ? 2 + (kind[2] - '0') : 1;
    kind += many ? 3 : 1;
  }
  if (*kind == 'a' || *kind == 'l') {
    const char *const first = (const char *)(intptr_t)word[0];
    (void)elements(out, kind[1], first, word[1], word + 2, kind[2] - '0', *kind == 'l');
  } else {
    number(out, *kind, *word, spec);
  }
}

static void written(const chad_line_t *const line) {
  FILE *const out = line->error != 0 ? stderr : stdout;
  for (const char *c = line->text; *c != '\0'; ++c) {
    if (*c == '{' && c[1] != '{') {
      char *end = NULL;
      const int64_t which = strtoll(c + 1, &end, 10);
      const spec_t spec = specification(end);
      field(out, line, which, &spec);
      c = strchr(end, '}');
    } else {
      (void)fputc(*c, out);
      c += *c == '{' || *c == '}' ? 1 : 0;
    }
  }
  (void)fflush(out);
}

chad_status_t chad_print(chad_context_t *const context, const char *const kinds,
                         const int64_t error) {
  chad_state_t *const state = (chad_state_t *)context;
  chad_line_t line = {kinds, kinds + strlen(kinds) + 1, state->words, (int32_t)error};
  state->word_count = 0;
  if (state->print == NULL) {
    written(&line);
    return CHAD_OK;
  }
  return chad_deep_ask(context, state->print, &line) == 0 ? CHAD_OK : CHAD_INTERRUPT;
}

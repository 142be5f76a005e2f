/* A hakem bot in one file: it answers every turn with a legal answer picked at random, and lays the cards of Q-Bitz.
 *
 * Change choose. Nothing else has to be touched: the rest speaks the protocol, one JSON object a line.
 * Do not print to stdout, it belongs to the protocol; stderr goes to the bot's log.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char NAME[] = "starter";

/* ---- JSON: read in place --------------------------------------------------------------------------------------
 *
 * A Json is a value where it stands in its line, from `at` up to `end`. Nothing is copied, and no function reads beyond
 * `end`. What is not there is the empty Json; every function takes it, so that questions can be put into each other:
 *
 *     number(item(item(field(state, "pits"), seat), 3))      the fourth pit of a seat; 0 if there is none
 */
typedef struct {
    const char *at, *end;
} Json;

static const Json NOTHING = {NULL, NULL};

static bool is_there(Json json) {
    return json.at != NULL && json.at < json.end;
}

static const char *after_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
    return at;
}

/* The end of the text whose opening quote stands at `at`. */
static const char *after_text(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end) at++;
    }
    return at < end ? at + 1 : end;
}

/* The end of the value that begins at `at`. */
static const char *after_value(const char *at, const char *end) {
    int depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = after_text(at, end);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0) return at;
            depth--;
            at++;
        } else if (depth == 0 && (*at == ',' || *at == ':' || *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
            return at;
        } else {
            at++;
            if (depth == 0) continue; /* a number, true, false, null */
        }
        if (depth == 0) return at;
    }
    return end;
}

/* Where the next item of an object or a list begins, after the one that ended at `at`; `end` if there is none. */
static const char *next_item(const char *at, const char *end) {
    at = after_space(at, end);
    return at < end && *at == ',' ? after_space(at + 1, end) : end;
}

/* The first item of an object or a list; `end` if there is none. */
static const char *first_item(Json json, char bracket) {
    if (!is_there(json) || *json.at != bracket) return json.end;
    const char *at = after_space(json.at + 1, json.end);
    return at < json.end && *at != ']' && *at != '}' ? at : json.end;
}

/* The field of an object. */
static Json field(Json object, const char *name) {
    size_t length = strlen(name);
    const char *end = object.end;
    for (const char *at = first_item(object, '{'); at < end;) {
        const char *key = at;
        const char *key_end = after_text(key, end);
        at = after_space(key_end, end);
        if (at == end || *at != ':') break;
        Json value = {after_space(at + 1, end), end};
        value.end = after_value(value.at, end);
        /* The key stands between two quotes. */
        if ((size_t)(key_end - key) == length + 2 && memcmp(key + 1, name, length) == 0) return value;
        at = next_item(value.end, end);
    }
    return NOTHING;
}

/* The item of a list with this index, from 0. */
static Json item(Json list, int index) {
    const char *end = list.end;
    for (const char *at = first_item(list, '['); at < end; index--) {
        const char *after = after_value(at, end);
        if (index == 0) return (Json){at, after};
        at = next_item(after, end);
    }
    return NOTHING;
}

/* How many items a list has. */
static int count(Json list) {
    int items = 0;
    const char *end = list.end;
    for (const char *at = first_item(list, '['); at < end; at = next_item(after_value(at, end), end)) items++;
    return items;
}

static bool same(Json a, Json b) {
    size_t length = (size_t)(a.end - a.at);
    return is_there(a) && is_there(b) && length == (size_t)(b.end - b.at) && memcmp(a.at, b.at, length) == 0;
}

/* Whether it is this text (without escapes). */
static bool is_text(Json json, const char *text) {
    size_t length = strlen(text);
    return is_there(json) && (size_t)(json.end - json.at) == length + 2 && *json.at == '"' &&
           memcmp(json.at + 1, text, length) == 0;
}

/* A number; 0 for null and for what is not there. */
static double number(Json json) {
    char digits[40];
    size_t length = is_there(json) ? (size_t)(json.end - json.at) : 0;
    if (length == 0 || length >= sizeof digits) return 0;
    memcpy(digits, json.at, length);
    digits[length] = '\0';
    return strtod(digits, NULL);
}

/* Writes a value as it stands in its line. */
static void print(Json json, FILE *file) {
    if (is_there(json)) fwrite(json.at, 1, (size_t)(json.end - json.at), file);
}

/* ---- The bot -------------------------------------------------------------------------------------------------- */

static void lay(Json state);

/* Writes the answer to a turn to stdout, as JSON. THIS IS THE PLACE TO CHANGE.
 *
 *   field(turn, "seat")   your seat; lists in the state are by seat, each seen from its own seat
 *   field(turn, "ask")    "move"; in Tavla also "cube" (before rolling), "take" (a double), "resign" (a resignation); in
 *                         Q-Bitz "race"
 *   field(turn, "state")  the position
 *   field(turn, "legal")  everything that you may answer: print one of these
 *   field(turn, "last")   what happened since your last answer
 *   field(turn, "clock")  left_ms by seat, limit_ms for this answer (null: no limit)
 *   hello                 game, rules, clock and options, as the referee told them when it began
 */
static void choose(Json turn, Json hello) {
    (void)hello;
    if (is_text(field(turn, "ask"), "race")) {
        /* Q-Bitz lists no answers: the first right tray wins the round. */
        lay(field(turn, "state"));
        return;
    }
    Json legal = field(turn, "legal");
    int answers = count(legal);
    if (answers == 0) {
        printf("null"); /* only a bot that told the referee not to list them gets here */
        return;
    }
    print(item(legal, rand() % answers), stdout);
}

/* ---- Q-Bitz --------------------------------------------------------------------------------------------------- */

enum { CELLS = 16, CUBES = 16, FACES = 6 };

/* The index of the face in the cube, or -1. */
static int face_of(Json cube, Json face) {
    for (int index = 0; index < FACES; index++) {
        if (same(item(cube, index), face)) return index;
    }
    return -1;
}

/* Lays a cube with the right face on the cell; a cube that lies elsewhere may have to make room. */
static bool place(int cell, int face[CELLS][CUBES], int cell_of[CUBES], bool tried[CUBES]) {
    for (int cube = 0; cube < CUBES; cube++) {
        if (tried[cube] || face[cell][cube] < 0) continue;
        tried[cube] = true;
        /* The cube is free, or its cell can do with another one. */
        if (cell_of[cube] < 0 || place(cell_of[cube], face, cell_of, tried)) {
            cell_of[cube] = cell;
            return true;
        }
    }
    return false;
}

/* Writes the claim that lays the card, or gives up the round. */
static void lay(Json state) {
    int face[CELLS][CUBES]; /* which face of each cube fits each cell, or -1 */
    int cell_of[CUBES], cube_on[CELLS];
    Json pattern = field(state, "pattern"), cubes = field(state, "cubes");
    for (int cell = 0; cell < CELLS; cell++) {
        Json wanted = field(item(item(pattern, cell / 4), cell % 4), "face");
        for (int cube = 0; cube < CUBES; cube++) face[cell][cube] = face_of(item(cubes, cube), wanted);
    }
    for (int cube = 0; cube < CUBES; cube++) cell_of[cube] = -1;
    for (int cell = 0; cell < CELLS; cell++) {
        bool tried[CUBES] = {false};
        if (!place(cell, face, cell_of, tried)) {
            printf("{\"qbitz\":null}");
            return;
        }
    }
    for (int cube = 0; cube < CUBES; cube++) {
        if (cell_of[cube] >= 0) cube_on[cell_of[cube]] = cube;
    }
    printf("{\"qbitz\":[");
    for (int cell = 0; cell < CELLS; cell++) {
        int cube = cube_on[cell];
        printf("%s{\"cube\":%d,\"face\":%d,\"turn\":", cell % 4 ? "," : cell ? "],[" : "[", cube, face[cell][cube]);
        print(field(item(item(pattern, cell / 4), cell % 4), "turn"), stdout);
        printf("}");
    }
    printf("]]}");
}

/* ---- The protocol --------------------------------------------------------------------------------------------- */

/* Ends a line and sends it: without fflush it would wait in a buffer, and the referee with it. */
static void send_line(void) {
    putchar('\n');
    fflush(stdout);
}

int main(void) {
    char *line = NULL, *kept = NULL; /* `kept` is the line of hello */
    size_t size = 0;
    ssize_t length;
    Json hello = NOTHING;
    srand((unsigned)time(NULL));
    while ((length = getline(&line, &size, stdin)) >= 0) {
        const char *end = line + length;
        Json message = {after_space(line, end), end};
        Json type = field(message, "type");
        if (is_text(type, "hello")) {
            free(kept);
            kept = malloc((size_t)length + 1);
            if (kept == NULL) return 1;
            memcpy(kept, line, (size_t)length + 1);
            hello = (Json){kept, kept + length};
            Json seed = field(field(hello, "options"), "seed");
            if (is_there(seed)) srand((unsigned)number(seed));
            printf("{\"type\":\"ready\",\"protocol\":1,\"name\":\"%s\",\"version\":\"1.0\"}", NAME);
            send_line();
        } else if (is_text(type, "turn")) {
            printf("{\"type\":\"move\",\"id\":");
            print(field(message, "id"), stdout);
            printf(",\"move\":");
            choose(message, hello);
            printf("}");
            send_line();
        } else if (is_text(type, "ping")) {
            printf("{\"type\":\"pong\",\"id\":");
            print(field(message, "id"), stdout);
            printf("}");
            send_line();
        } else if (is_text(type, "error")) {
            print(field(message, "message"), stderr);
            fputc('\n', stderr);
        } else if (is_text(type, "bye")) {
            break;
        }
        /* "start", "end", "stop" and whatever a later protocol adds need no answer. An answer to a turn that "stop" has
         * withdrawn meanwhile does no harm. */
    }
    free(kept);
    free(line);
    return 0;
}

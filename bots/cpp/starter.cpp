// A hakem bot in one file: it answers every turn with a legal answer picked at random, and lays the cards of Q-Bitz.
//
// Change choose. Nothing else has to be touched: the rest speaks the protocol, one JSON object a line.
// Do not print to std::cout, it belongs to the protocol; std::cerr goes to the bot's log.
#include <cstdlib>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

const std::string NAME = "starter";

// ---- JSON -------------------------------------------------------------------------------------------------------

// A JSON value. What is not there is null, so that questions can be put into each other:
//     turn["state"]["pits"][seat][3].number()
struct Json {
    enum Kind { Null, Bool, Number, Text, List, Object } kind = Null;
    std::string text;         // of a text: its characters; of a number: its digits
    std::string raw;          // the value as it stands in its line
    bool truth = false;       // of true and false
    std::vector<Json> items;  // of a list, and the values of an object
    std::vector<std::string> keys;  // of an object, in the order of its values

    const Json& operator[](const std::string& key) const {
        for (std::size_t i = 0; i < keys.size(); i++) {
            if (keys[i] == key) return items[i];
        }
        return nothing();
    }
    const Json& operator[](const char* key) const { return (*this)[std::string(key)]; }
    const Json& operator[](std::size_t index) const {
        return kind == List && index < items.size() ? items[index] : nothing();
    }
    const Json& operator[](int index) const { return (*this)[static_cast<std::size_t>(index)]; }
    std::size_t size() const { return items.size(); }
    bool is_null() const { return kind == Null; }
    double number() const { return kind == Number ? std::strtod(text.c_str(), nullptr) : 0; }

  private:
    static const Json& nothing() {
        static const Json none;
        return none;
    }
};

// Reads one line of JSON.
class Reader {
  public:
    explicit Reader(const std::string& line) : line(line) {}

    Json read(int depth = 0) {
        if (depth > 200) throw std::runtime_error("the JSON is nested too deeply");
        char first = next();
        std::size_t start = at;
        Json json;
        if (first == '{') {
            json.kind = Json::Object;
            at++;
            while (next() != '}') {
                json.keys.push_back(read_text());
                expect(':');
                json.items.push_back(read(depth + 1));
                if (next() == ',') at++;
            }
            at++;
        } else if (first == '[') {
            json.kind = Json::List;
            at++;
            while (next() != ']') {
                json.items.push_back(read(depth + 1));
                if (next() == ',') at++;
            }
            at++;
        } else if (first == '"') {
            json.kind = Json::Text;
            json.text = read_text();
        } else if (first == 't' || first == 'f') {
            json.kind = Json::Bool;
            json.truth = first == 't';
            skip_word();
        } else if (first == 'n') {
            skip_word();
        } else {
            json.kind = Json::Number;
            while (at < line.size() && std::string("+-.0123456789eE").find(line[at]) != std::string::npos) at++;
            if (at == start) throw std::runtime_error("no JSON value at " + std::to_string(at));
            json.text = line.substr(start, at - start);
        }
        json.raw = line.substr(start, at - start);
        return json;
    }

  private:
    const std::string& line;
    std::size_t at = 0;

    // The next character that is no white space.
    char next() {
        while (at < line.size() && std::string(" \t\r\n").find(line[at]) != std::string::npos) at++;
        if (at >= line.size()) throw std::runtime_error("the JSON ends too early");
        return line[at];
    }

    void expect(char wanted) {
        if (next() != wanted) throw std::runtime_error(std::string("no ") + wanted + " at " + std::to_string(at));
        at++;
    }

    void skip_word() {
        while (at < line.size() && line[at] >= 'a' && line[at] <= 'z') at++;
    }

    std::string read_text() {
        std::string text;
        expect('"');
        while (true) {
            if (at >= line.size()) throw std::runtime_error("a text has no end");
            char c = line[at++];
            if (c == '"') return text;
            if (c != '\\') {
                text += c;
                continue;
            }
            if (at >= line.size()) throw std::runtime_error("a text has no end");
            c = line[at++];
            if (c == 'u') {
                // No text that a bot decides by holds such a character; it is kept as it is written.
                text += "\\u";
            } else {
                const std::string from = "bfnrt", to = "\b\f\n\r\t";
                std::size_t known = from.find(c);
                text += known == std::string::npos ? c : to[known];
            }
        }
    }
};

// ---- The bot ----------------------------------------------------------------------------------------------------

std::mt19937 chance{std::random_device{}()};

std::string lay(const Json& state);

// Returns the answer to a turn as JSON. THIS IS THE PLACE TO CHANGE.
//
//   turn["seat"]   your seat; lists in the state are by seat, each seen from its own seat
//   turn["ask"]    "move"; in Tavla also "cube" (before rolling), "take" (a double), "resign" (a resignation); in Q-Bitz
//                  "race"
//   turn["state"]  the position
//   turn["legal"]  everything that you may answer: return the `raw` of one of these
//   turn["last"]   what happened since your last answer
//   turn["clock"]  left_ms by seat, limit_ms for this answer (null: no limit)
//   hello          game, rules, clock and options, as the referee told them when it began
std::string choose(const Json& turn, const Json& hello) {
    (void)hello;
    if (turn["ask"].text == "race") {
        // Q-Bitz lists no answers: the first right tray wins the round.
        return "{\"qbitz\":" + lay(turn["state"]) + "}";
    }
    const Json& legal = turn["legal"];
    std::uniform_int_distribution<std::size_t> any(0, legal.size() - 1);
    return legal[any(chance)].raw;
}

// ---- Q-Bitz -----------------------------------------------------------------------------------------------------

// The index of the face in the cube, or -1.
int face_of(const Json& cube, const std::string& face) {
    for (std::size_t index = 0; index < cube.size(); index++) {
        if (cube[index].text == face) return static_cast<int>(index);
    }
    return -1;
}

// Lays a cube with the right face on the cell; a cube that lies elsewhere may have to make room.
bool place(int cell, const Json& pattern, const Json& cubes, std::vector<int>& cell_of, std::vector<bool>& tried) {
    for (std::size_t cube = 0; cube < cubes.size(); cube++) {
        if (tried[cube] || face_of(cubes[cube], pattern[cell / 4][cell % 4]["face"].text) < 0) continue;
        tried[cube] = true;
        // The cube is free, or its cell can do with another one.
        if (cell_of[cube] < 0 || place(cell_of[cube], pattern, cubes, cell_of, tried)) {
            cell_of[cube] = cell;
            return true;
        }
    }
    return false;
}

// Returns the tray that lays the card, or null.
std::string lay(const Json& state) {
    const Json &pattern = state["pattern"], &cubes = state["cubes"];
    std::vector<int> cell_of(cubes.size(), -1);
    for (int cell = 0; cell < 16; cell++) {
        std::vector<bool> tried(cubes.size(), false);
        if (!place(cell, pattern, cubes, cell_of, tried)) return "null";
    }
    std::string tray;
    for (int cell = 0; cell < 16; cell++) {
        const Json& wanted = pattern[cell / 4][cell % 4];
        for (std::size_t cube = 0; cube < cubes.size(); cube++) {
            if (cell_of[cube] != cell) continue;
            tray += cell % 4 ? "," : cell ? "],[" : "[[";
            tray += "{\"cube\":" + std::to_string(cube) + ",\"face\":" +
                    std::to_string(face_of(cubes[cube], wanted["face"].text)) + ",\"turn\":" + wanted["turn"].raw + "}";
        }
    }
    return tray + "]]";
}

// ---- The protocol -----------------------------------------------------------------------------------------------

// Sends a line. std::endl flushes: with "\n" alone the line would wait in a buffer, and the referee with it.
void send(const std::string& line) {
    std::cout << line << std::endl;
}

int main() {
    Json hello;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        Json message = Reader(line).read();
        const std::string& type = message["type"].text;
        if (type == "hello") {
            hello = message;
            const Json& seed = hello["options"]["seed"];
            if (!seed.is_null()) chance.seed(static_cast<unsigned>(seed.number()));
            send("{\"type\":\"ready\",\"protocol\":1,\"name\":\"" + NAME + "\",\"version\":\"1.0\"}");
        } else if (type == "turn") {
            send("{\"type\":\"move\",\"id\":" + message["id"].raw + ",\"move\":" + choose(message, hello) + "}");
        } else if (type == "ping") {
            send("{\"type\":\"pong\",\"id\":" + message["id"].raw + "}");
        } else if (type == "error") {
            std::cerr << message["code"].text << ' ' << message["message"].text << '\n';
        } else if (type == "bye") {
            break;
        }
        // "start", "end", "stop" and whatever a later protocol adds need no answer. An answer to a turn that "stop" has
        // withdrawn meanwhile does no harm.
    }
}

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A hakem bot in one file: it answers every turn with a legal answer picked at random, and lays the cards of Q-Bitz.
 *
 * Change choose. Nothing else has to be touched: the rest speaks the protocol, one JSON object a line.
 * Do not use System.out, it belongs to the protocol; System.err goes to the bot's log.
 */
public class Starter {
    static final String NAME = "starter";

    static Random random = new Random();

    /**
     * Returns the answer to a turn. THIS IS THE PLACE TO CHANGE.
     *
     * turn.get("seat")   your seat; lists in the state are by seat, each seen from its own seat
     * turn.get("ask")    "move"; in Tavla also "cube" (before rolling), "take" (a double), "resign" (a resignation); in
     *                    Q-Bitz "race"
     * turn.get("state")  the position
     * turn.get("legal")  everything that you may answer: return one of these
     * turn.get("last")   what happened since your last answer
     * turn.get("clock")  left_ms by seat, limit_ms for this answer (null: no limit)
     * hello              game, rules, clock and options, as the referee told them when it began
     *
     * A JSON object is a Map, a list a List, a number a Double, text a String; object(), list() and number() cast.
     */
    static Object choose(Map<String, Object> turn, Map<String, Object> hello) {
        if (turn.get("ask").equals("race")) {
            // Q-Bitz lists no answers: the first right tray wins the round.
            Map<String, Object> claim = new LinkedHashMap<>();
            claim.put("qbitz", lay(object(turn.get("state"))));
            return claim;
        }
        List<Object> legal = list(turn.get("legal"));
        return legal.get(random.nextInt(legal.size()));
    }

    // ---- Q-Bitz -------------------------------------------------------------------------------------------------

    /** Returns the tray that lays a card, or null: each cell takes a cube that has its face. */
    static List<Object> lay(Map<String, Object> state) {
        List<Map<String, Object>> cells = new ArrayList<>();
        for (Object row : list(state.get("pattern"))) {
            for (Object cell : list(row)) {
                cells.add(object(cell));
            }
        }
        List<Object> cubes = list(state.get("cubes"));
        int[] cellOf = new int[cubes.size()]; // which cell each cube lies on
        java.util.Arrays.fill(cellOf, -1);
        for (int cell = 0; cell < cells.size(); cell++) {
            if (!place(cell, cells, cubes, cellOf, new boolean[cubes.size()])) {
                return null;
            }
        }
        Object[] tray = new Object[cells.size()];
        for (int cube = 0; cube < cellOf.length; cube++) {
            if (cellOf[cube] >= 0) {
                Map<String, Object> wanted = cells.get(cellOf[cube]);
                Map<String, Object> laid = new LinkedHashMap<>();
                laid.put("cube", cube);
                laid.put("face", list(cubes.get(cube)).indexOf(wanted.get("face")));
                laid.put("turn", wanted.get("turn"));
                tray[cellOf[cube]] = laid;
            }
        }
        List<Object> rows = new ArrayList<>();
        for (int row = 0; row < tray.length; row += 4) {
            rows.add(List.of(tray[row], tray[row + 1], tray[row + 2], tray[row + 3]));
        }
        return rows;
    }

    static boolean place(int cell, List<Map<String, Object>> cells, List<Object> cubes, int[] cellOf, boolean[] tried) {
        for (int cube = 0; cube < cubes.size(); cube++) {
            if (tried[cube] || !list(cubes.get(cube)).contains(cells.get(cell).get("face"))) {
                continue;
            }
            tried[cube] = true;
            // The cube is free, or its cell can do with another one.
            if (cellOf[cube] < 0 || place(cellOf[cube], cells, cubes, cellOf, tried)) {
                cellOf[cube] = cell;
                return true;
            }
        }
        return false;
    }

    // ---- The protocol -------------------------------------------------------------------------------------------

    static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    /** Sends a message, given as keys and values. */
    static void send(Object... keysAndValues) {
        Map<String, Object> message = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            message.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        StringBuilder line = new StringBuilder();
        write(message, line);
        OUT.print(line.append('\n'));
        OUT.flush();
    }

    public static void main(String[] args) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Object> hello = null;
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.isBlank()) {
                continue;
            }
            Map<String, Object> message = object(new Json(line).read());
            switch (String.valueOf(message.get("type"))) {
                case "hello":
                    hello = message;
                    Object seed = object(hello.get("options")).get("seed");
                    if (seed instanceof Double) {
                        random = new Random((long) number(seed));
                    }
                    send("type", "ready", "protocol", 1, "name", NAME, "version", "1.0");
                    break;
                case "turn":
                    send("type", "move", "id", message.get("id"), "move", choose(message, hello));
                    break;
                case "ping":
                    send("type", "pong", "id", message.get("id"));
                    break;
                case "error":
                    System.err.println(message.get("code") + " " + message.get("message"));
                    break;
                case "bye":
                    return;
                default:
                    // "start", "end", "stop" and whatever a later protocol adds need no answer. An answer to a turn that
                    // "stop" has withdrawn meanwhile does no harm.
                    break;
            }
        }
    }

    // ---- JSON ---------------------------------------------------------------------------------------------------

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    static double number(Object value) {
        return (Double) value;
    }

    /** Appends a value as JSON. */
    static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> field : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                write(field.getKey(), out);
                out.append(':');
                write(field.getValue(), out);
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof List) {
            char before = '[';
            for (Object item : (List<?>) value) {
                out.append(before);
                write(item, out);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value instanceof String) {
            out.append('"');
            for (char c : ((String) value).toCharArray()) {
                if (c == '"' || c == '\\') {
                    out.append('\\').append(c);
                } else if (c < ' ') {
                    out.append(String.format("\\u%04x", (int) c));
                } else {
                    out.append(c);
                }
            }
            out.append('"');
        } else if (value instanceof Double && (Double) value == Math.rint((Double) value)) {
            out.append(((Double) value).longValue()); // 3, not 3.0
        } else {
            out.append(value); // a number, true, false, null
        }
    }

    /** Reads the JSON of one line. */
    static class Json {
        private final String text;
        private int at = 0;

        Json(String text) {
            this.text = text;
        }

        Object read() {
            switch (next()) {
                case '{':
                    return readObject();
                case '[':
                    return readList();
                case '"':
                    return readString();
                case 't':
                    return word("true", true);
                case 'f':
                    return word("false", false);
                case 'n':
                    return word("null", null);
                default:
                    int start = at;
                    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
                        at++;
                    }
                    return Double.valueOf(text.substring(start, at));
            }
        }

        private Map<String, Object> readObject() {
            Map<String, Object> object = new LinkedHashMap<>();
            at++;
            while (next() != '}') {
                String key = readString();
                expect(':');
                object.put(key, read());
                if (next() == ',') {
                    at++;
                }
            }
            at++;
            return object;
        }

        private List<Object> readList() {
            List<Object> items = new ArrayList<>();
            at++;
            while (next() != ']') {
                items.add(read());
                if (next() == ',') {
                    at++;
                }
            }
            at++;
            return items;
        }

        private String readString() {
            StringBuilder string = new StringBuilder();
            expect('"');
            while (text.charAt(at) != '"') {
                char c = text.charAt(at++);
                if (c == '\\') {
                    c = text.charAt(at++);
                    if (c == 'u') {
                        c = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                        at += 4;
                    } else if ("bfnrt".indexOf(c) >= 0) {
                        c = "\b\f\n\r\t".charAt("bfnrt".indexOf(c));
                    }
                }
                string.append(c);
            }
            at++;
            return string.toString();
        }

        private Object word(String word, Object value) {
            at += word.length();
            return value;
        }

        private void expect(char wanted) {
            if (next() != wanted) {
                throw new IllegalArgumentException("no " + wanted + " at " + at + " of " + text);
            }
            at++;
        }

        /** The next character that is no white space. */
        private char next() {
            while (Character.isWhitespace(text.charAt(at))) {
                at++;
            }
            return text.charAt(at);
        }
    }
}

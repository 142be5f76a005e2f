// A hakem bot in one file: it answers every turn with a legal answer picked at random, and lays the cards of Q-Bitz.
//
// Change choose. Nothing else has to be touched: the rest speaks the protocol, one JSON object a line.
// Do not print to stdout (fmt.Println), it belongs to the protocol; os.Stderr goes to the bot's log.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"
)

const name = "starter"

// choose returns the answer to a turn. THIS IS THE PLACE TO CHANGE.
//
//	turn.Seat   your seat; lists in the state are by seat, each seen from its own seat
//	turn.Ask    "move"; in Tavla also "cube" (before rolling), "take" (a double), "resign" (a resignation); in Q-Bitz "race"
//	turn.State  the position as JSON: write a struct for your game and json.Unmarshal it, as for Q-Bitz below
//	turn.Legal  everything that you may answer, as JSON: return one of these
//	turn.Last   what happened since your last answer, as JSON
//	turn.Clock  LeftMs by seat, LimitMs for this answer (nil: no limit)
//	hello       the game, its rules and the bot's options
func choose(turn Message, hello Message) any {
	if turn.Ask == "race" {
		// Q-Bitz lists no answers: the first right tray wins the round.
		var card Card
		if err := json.Unmarshal(turn.State, &card); err != nil {
			fmt.Fprintln(os.Stderr, "the card is not understood:", err)
		}
		return map[string]any{"qbitz": lay(card)}
	}
	return turn.Legal[rand.Intn(len(turn.Legal))]
}

// A Message holds the fields of every message of the referee; others are ignored.
type Message struct {
	Type string

	// hello
	Game    string
	Rules   json.RawMessage
	Options struct{ Seed *int64 }

	// turn; ping has an id too
	Id    int
	Seat  int
	Ask   string
	State json.RawMessage
	Legal []json.RawMessage
	Last  []json.RawMessage
	Clock struct {
		LeftMs  []*int64 `json:"left_ms"`
		LimitMs *int64   `json:"limit_ms"`
	}

	// error
	Code, Message string
}

// A Card is the state of Q-Bitz.
type Card struct {
	Pattern [4][4]struct {
		Face string
		Turn int
	}
	Cubes [][]string
}

// A Laid cube lies in a cell of the tray.
type Laid struct {
	Cube int `json:"cube"`
	Face int `json:"face"`
	Turn int `json:"turn"`
}

// lay returns the tray that lays a card, or nil: each cell takes a cube that has its face.
func lay(card Card) *[4][4]Laid {
	cellOf := make([]int, len(card.Cubes)) // which cell each cube lies on
	for cube := range cellOf {
		cellOf[cube] = -1
	}
	var place func(cell int, tried []bool) bool
	place = func(cell int, tried []bool) bool {
		for cube, faces := range card.Cubes {
			if tried[cube] || find(faces, card.Pattern[cell/4][cell%4].Face) < 0 {
				continue
			}
			tried[cube] = true
			// The cube is free, or its cell can do with another one.
			if cellOf[cube] < 0 || place(cellOf[cube], tried) {
				cellOf[cube] = cell
				return true
			}
		}
		return false
	}
	for cell := 0; cell < 16; cell++ {
		if !place(cell, make([]bool, len(card.Cubes))) {
			return nil
		}
	}
	var tray [4][4]Laid
	for cube, cell := range cellOf {
		if cell >= 0 {
			wanted := card.Pattern[cell/4][cell%4]
			tray[cell/4][cell%4] = Laid{cube, find(card.Cubes[cube], wanted.Face), wanted.Turn}
		}
	}
	return &tray
}

func find(faces []string, wanted string) int {
	for index, face := range faces {
		if face == wanted {
			return index
		}
	}
	return -1
}

// send writes a line. It goes straight to the pipe: os.Stdout has no buffer that would have to be flushed.
func send(message map[string]any) {
	line, err := json.Marshal(message)
	if err != nil {
		fmt.Fprintln(os.Stderr, "an answer cannot be written:", err)
		return
	}
	os.Stdout.Write(append(line, '\n'))
}

func main() {
	rand.Seed(time.Now().UnixNano())
	input := bufio.NewReader(os.Stdin)
	var hello Message
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return // the end of input
		}
		var message Message
		if err := json.Unmarshal(line, &message); err != nil {
			fmt.Fprintln(os.Stderr, "a message is not understood:", err)
			continue
		}
		switch message.Type {
		case "hello":
			hello = message
			if hello.Options.Seed != nil {
				rand.Seed(*hello.Options.Seed)
			}
			send(map[string]any{"type": "ready", "protocol": 1, "name": name, "version": "1.0"})
		case "turn":
			send(map[string]any{"type": "move", "id": message.Id, "move": choose(message, hello)})
		case "ping":
			send(map[string]any{"type": "pong", "id": message.Id})
		case "error":
			fmt.Fprintln(os.Stderr, message.Code, message.Message)
		case "bye":
			return
		}
		// "start", "end", "stop" and whatever a later protocol adds need no answer. An answer to a turn that "stop" has
		// withdrawn meanwhile does no harm.
	}
}

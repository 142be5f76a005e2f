#!/usr/bin/env node
// A hakem bot in one file: it answers every turn with a legal answer picked at random, and lays the cards of Q-Bitz.
//
// Change choose(). Nothing else has to be touched: the rest speaks the protocol, one JSON object a line.
// Do not use console.log, stdout belongs to the protocol; console.error goes to the bot's log.
"use strict";

const NAME = "starter";

// Returns the answer to a turn. THIS IS THE PLACE TO CHANGE.
//
//   turn.seat   your seat; lists in the state are by seat, each seen from its own seat
//   turn.ask    "move"; in Tavla also "cube" (before rolling), "take" (a double), "resign" (a resignation); in Q-Bitz "race"
//   turn.state  the position
//   turn.legal  everything that you may answer: return one of these
//   turn.last   what happened since your last answer
//   turn.clock  left_ms by seat, limit_ms for this answer (null: no limit)
//   hello       game, rules, clock and options, as the referee told them when it began
function choose(turn, hello) {
  if (turn.ask === "race") {
    // Q-Bitz lists no answers: the first right tray wins the round.
    return { qbitz: lay(turn.state) };
  }
  return turn.legal[Math.floor(random() * turn.legal.length)];
}

// Returns the tray that lays a Q-Bitz card, or null: each cell takes a cube that has its face.
function lay(state) {
  const cells = state.pattern.flat();
  const cubes = state.cubes;
  const cellOf = new Array(cubes.length).fill(-1); // which cell each cube lies on

  function place(cell, tried) {
    for (let cube = 0; cube < cubes.length; cube++) {
      if (tried.has(cube) || !cubes[cube].includes(cells[cell].face)) continue;
      tried.add(cube);
      // The cube is free, or its cell can do with another one.
      if (cellOf[cube] < 0 || place(cellOf[cube], tried)) {
        cellOf[cube] = cell;
        return true;
      }
    }
    return false;
  }

  for (let cell = 0; cell < cells.length; cell++) {
    if (!place(cell, new Set())) return null;
  }
  const tray = cells.map((cell, index) => {
    const cube = cellOf.indexOf(index);
    return { cube, face: cubes[cube].indexOf(cell.face), turn: cell.turn };
  });
  return [0, 4, 8, 12].map((row) => tray.slice(row, row + 4));
}

// Random numbers from 0 to 1. Give the bot the option `seed`, a number, and it draws the same ones each time.
let random = Math.random;

function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function send(message) {
  process.stdout.write(JSON.stringify(message) + "\n"); // into a pipe this is written at once
}

let hello = null;

function hear(message) {
  switch (message.type) {
    case "hello":
      hello = message;
      if (hello.options.seed !== undefined) random = seeded(hello.options.seed);
      send({ type: "ready", protocol: 1, name: NAME, version: "1.0" });
      break;
    case "turn":
      send({ type: "move", id: message.id, move: choose(message, hello) });
      break;
    case "ping":
      send({ type: "pong", id: message.id });
      break;
    case "error":
      console.error(message.code, message.message);
      break;
    case "bye":
      process.exit(0);
    // "start", "end", "stop" and whatever a later protocol adds need no answer. An answer to a turn that "stop" has
    // withdrawn meanwhile does no harm.
  }
}

// The program ends when its input does.
require("readline")
  .createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on("line", (line) => {
    if (line.trim() !== "") hear(JSON.parse(line));
  });

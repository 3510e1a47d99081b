#!/usr/bin/env node
// A bot for Duels. The protocol is in docs/reference/bots.md.
//
// Try it, and put it in a seat:
//
//     PROGRAM bot check ./FILE
//     PROGRAM play GAME --p2 ./FILE

"use strict";

// One of view.options; or a mix, the chance of each move, from which the host draws.
//
// view.game.slug says which game it is, view.observation.fields what you see, view.history what has
// happened, view.player whether you are 1 or 2. Answer with a mix, so that a match can be
// repeated with the same seed.
function choose(view) {
  const options = view.options;
  return Object.fromEntries(options.map((move) => [move, 1 / options.length]));
  // return options[0];
}

function say(answer) {
  process.stdout.write(JSON.stringify(answer) + "\n");
}

require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const asked = JSON.parse(line);
    if (asked.type === "hello") {
      say({ type: "ready" });
    } else if (asked.type === "choose") {
      const chosen = choose(asked.view);
      say(typeof chosen === "string" ? { type: "move", move: chosen } : { type: "move", mix: chosen });
    }
  });

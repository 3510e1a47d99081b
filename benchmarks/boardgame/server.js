// A boardgame.io server with a game like Number Wars: attack with each number once, refresh, win at 0.
// usage: node server.js PORT memory|files [FOLDER]
const { Server, Origins, FlatFile } = require("boardgame.io/server");
const { INVALID_MOVE } = require("boardgame.io/core");

const numbers = () => Array.from({ length: 10 }, (_, n) => n + 1);
const game = {
  name: "wars",
  setup: () => ({ lp: [100000, 100000], unused: [numbers(), numbers()] }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    attack: ({ G, playerID }, number) => {
      const own = Number(playerID);
      if (!G.unused[own].includes(number)) return INVALID_MOVE;
      G.unused[own] = G.unused[own].filter((other) => other !== number);
      if (G.unused[own].length === 0) G.unused[own] = numbers();
      G.lp[1 - own] -= number;
    },
  },
  endIf: ({ G }) => {
    const lost = G.lp.findIndex((left) => left <= 0);
    if (lost >= 0) return { winner: String(1 - lost) };
  },
};

const [port, kind, folder] = process.argv.slice(2);
const db = kind === "files" ? new FlatFile({ dir: folder, logging: false }) : undefined;
const server = Server({ games: [game], origins: [Origins.LOCALHOST], ...(db ? { db } : {}) });
server.run(Number(port), () => console.log("ready"));

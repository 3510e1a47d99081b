/** The envelope of docs/reference/protocol.md, as types. */
import type { Caption, Entry, Part, Result, Seat, Step, View } from './wire.js';

export interface Option {
  name: string; about: string; expects: string; default: string;
  kind: 'number' | 'pair' | 'flag' | 'choice' | 'first'; low?: number; high?: number; words?: string[];
}
export interface Game {
  slug: string; title: string; summary: string; private: boolean; options: Option[]; levels: string[];
}
export interface Level { name: string; about: string; more: boolean }
export interface Catalogue { games: Game[]; levels: Level[]; reactions: string[] }
export interface Time { limit: number | null; budget: number | null; increment: number }
export interface Seated {
  player: Seat; kind: 'human' | 'computer'; id: string; name: string; rating: number | null; you: boolean;
}
export interface Match {
  type: 'match'; id: string; state: 'waiting' | 'starting' | 'playing' | 'over' | 'closed'; reason?: string;
  game: { slug: string; title: string; options: Record<string, string> };
  time: Time | null; open: boolean; seats: [Seated | null, Seated | null]; you: Seat | null;
  created: number; begun: number | null; ended: number | null; moment: number; to_move: Seat[];
  result: Result | null; commitment: string | null; hashes: (string | null)[]; revealed: Seat[];
  nonces: (string | null)[] | null; reveal_by: number | null; rematch: string | null; before: string | null;
  taken_back: number; games: number; second: boolean; names: [string, string]; outcome?: Omit<Caption, 'number'>;
}
export interface Rating {
  game: string; player: { id: string; name: string; kind: string };
  rating: number; deviation: number; matches: number;
}
export interface Me { id: string; name: string; ratings: Rating[] }
export interface ReplayStep {
  moment: number; event: Entry | null; undone: boolean; caption: Omit<Caption, 'number'> | null; table: Part[]; to_move: Seat[];
}
export interface GradedMove {
  entry: number; player: Seat; position: string[]; move: string; before: number | null; after: number | null;
  regret: number | null; random_regret: number | null; stake: number | null; best: string; verdict: string | null;
  distance?: number;
}
export interface Analysis {
  moves: GradedMove[]; start: number; curve: (number | null)[];
  accuracy: Record<string, number | null>; won_throughout?: Record<string, boolean>; regret: Record<string, number | null>;
  ungraded: Record<string, number>; luck: Record<string, number | null>;
  costliest: Record<string, number | null>; approximate?: boolean; bound?: number; at_most?: number;
  unit?: string; highest_payoff?: number; caveat?: string;
}
export interface Valued { value: number | null; exact?: string; standard_error?: number }
export interface Choice {
  player: Seat; moves: Record<string, Valued & { distance?: number | null }>; mix: Record<string, number>; rough: boolean;
}
/** The response of /api/value. */
export interface Position extends Valued {
  game: string; options: Record<string, string>; unit?: string; open_hands?: boolean; to_move: Seat[]; why?: string;
  choices: Choice[]; after: string[]; result: Result | null; distance: number | null; table: Part[];
  chance: { by: Seat | null; outcomes: Record<string, Valued & { probability: string }> } | null;
  approximate?: boolean; caveat?: string; bound?: number | null; at_most?: number | null;
}
/** A position of /api/puzzles, and what is asked in it. */
export interface Puzzle extends Position {
  title: string; puzzle: { player: Seat; kind: 'best' | 'mix'; answer: string[]; stars: number; difficulty: number };
}
export type Chart =
  | { kind: 'bars'; title: string; values: Record<string, number>; least: number; note: string }
  | { kind: 'grid'; title: string; across: string; columns: string[]; down: string; rows: string[]; cells: string[][];
    legend: Record<string, string>; note: string };
/** The response of /api/learn. */
export interface Learned {
  game: string; options: Record<string, string>; charts: Chart[]; facts: string[]; caveat: string | null;
  lesson: {
    moves: { after: string[]; text: string; move: string; player: Seat; options: string[]; table: Part[] }[];
    after: string[]; end: string; table: Part[];
  };
}
export interface Draw { number: number; n: number; odds: [string, number, number][]; outcome: string }
export interface Fair {
  commitment: string; secret: string; hashes?: [string, string]; nonces: [string | null, string | null];
  first?: string; seed: string | null; draws: Draw[];
}

/** The fields of a view that have changed: of the observation and the table only what differs. */
export type Changes = Partial<Omit<View, 'table' | 'observation'>>
  & { table?: Part[] | Record<string, Part>; observation?: Record<string, unknown> };
export interface Update {
  type: 'update'; since: number; moment: number; events: Entry[]; captions: Caption[];
  view?: View; changes?: Changes; now: number; to_move?: Seat[]; revealed?: { table: Part[]; match: Match };
}
export interface Answer {
  type: 'answer'; id: string; ok: boolean; reason?: string; so_far?: string; step?: Step;
  hint?: string; move?: string;
  again?: boolean; since?: number; events?: Entry[]; captions?: Caption[];
}
export interface Presence {
  type: 'presence'; online: Seat[]; spectators: number; claim: { player: Seat; at: number } | null;
}
export type Message =
  | { type: 'welcome'; protocol: number; match: Match; you: Seat | null; now: number }
  | { type: 'match'; match: Match }
  | Update | Answer | Presence
  | { type: 'reaction'; player: Seat | null; reaction: string }
  | { type: 'rematch'; offers: Seat[]; match: string | null }
  | { type: 'bye'; reason: string; after: number }
  | { type: 'refusal'; reason: string; reload?: boolean };

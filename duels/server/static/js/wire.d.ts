/** The JSON of docs/reference/wire.md, as types. */
export type Seat = 1 | 2;

export interface Item { type: 'item'; face: string; choice: string; spent: boolean; last: boolean }
interface Shown { id: string; label: string; owner: Seat | null }
export interface Meter extends Shown { type: 'meter'; value: number; top: number }
export interface Tokens extends Shown { type: 'tokens'; items: Item[] }
export interface Hand extends Shown { type: 'hand'; cards: Item[]; hidden: number }
export interface Pile extends Shown { type: 'pile'; size: number; cards: Item[] }
export interface Die extends Shown { type: 'die'; face: string }
export interface Sealed extends Shown { type: 'sealed'; placed: boolean }
export interface Played extends Shown { type: 'played'; face: string }
export interface Score extends Shown { type: 'score'; points: number; goal: number }
export type Part = Meter | Tokens | Hand | Pile | Die | Sealed | Played | Score;

export interface Step {
  type: 'step'; prompt: string; choices: string[]; many: boolean; refused: Record<string, string>;
  kind: string; question: string; name: string; listing: string; brief: string; effects: Record<string, string>;
}
export interface Tree { type: 'tree'; step: Step; after: Record<string, Tree | null> }

export interface Line { type: 'line'; text: string; tone: string }
export interface Caption {
  type: 'caption'; number: number; text: string; detail: string; favours: Seat | null; minor: boolean;
}
export interface Result {
  type: 'result'; winner: Seat | null; by: string; reason: string; payoff?: number | string;
}
export interface Entry {
  type: string; number: number; at: number;
  moves?: Record<string, string>; outcome?: string; by?: Seat | null | string;
  player?: Seat; players?: Seat[]; winner?: Seat | null; reason?: string; to?: number; why?: string;
}
export interface View {
  type: 'view'; version: 1;
  game: { slug: string; title: string; options: Record<string, string> };
  player: Seat | null; moment: number; observation: { fields: Record<string, unknown> }; options: string[]; choice: Tree | null; table: Part[];
  clock: number | null; clocks: [number | null, number | null]; sealed: Seat[];
  offer: Seat | null; result: Result | null;
}

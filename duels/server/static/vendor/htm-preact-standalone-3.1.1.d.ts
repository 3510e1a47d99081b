/** The part of Preact and htm that the client uses, as types. */
export interface VNode { type: unknown; props: Record<string, unknown>; key: unknown }
export type Child = VNode | string | number | boolean | null | undefined | Child[];
export type Component<P> = (props: P) => Child;
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode;
export function h(type: unknown, props: unknown, ...children: unknown[]): VNode;
export function render(node: Child, parent: Element): void;
export function useState<T>(initial: T | (() => T)): [T, (next: T | ((old: T) => T)) => void];
export function useReducer<S, A>(reduce: (state: S, action: A) => S, initial: S): [S, (a: A) => void];
export function useEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useRef<T>(initial: T): { current: T };
export function useMemo<T>(make: () => T, inputs: unknown[]): T;
export function useCallback<T>(call: T, inputs: unknown[]): T;

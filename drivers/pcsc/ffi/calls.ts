/** The messages between the program and a thread that calls PC/SC. */
import type { ListedReader } from '../../protocols/pcscd.ts';
import type { SmartCards } from './smart-cards.ts';

/** Requests to a thread: the calls of SmartCards, and a watch that lasts until `stop[0]` is not 0. */
export interface Calls extends Omit<SmartCards, 'readers' | 'changes'> {
  watch(stop: Int32Array): void;
}

/** A call. */
export interface Request {
  readonly id: number;
  readonly call: keyof Calls;
  readonly values: readonly unknown[];
}

/** The end of a call, or the list of readers after a change. `result`: the number of a failure of PC/SC. */
export type Response =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly result: number }
  | { readonly readers: readonly ListedReader[] };

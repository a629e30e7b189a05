/** Touches of keys with a credential of the registry, and for how long they allow actions. */
import type { ActionSignature } from '../contract/assertion.ts';
import type { IdentityAction } from '../contract/key-values.ts';
import { proofBounds } from '../contract/limits.ts';

/** A touch, and what the registry accepts because of it. */
export interface Touched {
  readonly serialNumber: string;
  /** Null: the key has made its credential, which allows each action. */
  readonly signed: { readonly action: IdentityAction; readonly signature: ActionSignature } | null;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Before the registry no longer accepts it: requests take time. */
const TOUCHED_MS = 800 * proofBounds.challengeSeconds;

/** `signed` is null if the key has made its credential. */
export const touchedFor = (serialNumber: string, signed: Touched['signed'] = null): Touched => ({
  serialNumber,
  signed,
  until: Date.now() + TOUCHED_MS,
});

/** Whether the action needs no further touch. */
export const isFor = ({ serialNumber, signed, until }: Touched, wanted: string, action: IdentityAction): boolean =>
  serialNumber === wanted && (signed === null || signed.action === action) && Date.now() < until;

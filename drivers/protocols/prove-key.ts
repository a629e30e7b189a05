/** Has a USB key prove what it is or sign a receipt, over the interface that the method needs. */
import { deadline, pause } from '../deadline.ts';
import type { AssertionRequest, KeyEvidence, ProofRequest, ProofWork, RecognizedKey } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import { VENDOR } from '../usb/ids.ts';
import type { CardConnection, Closable, CtapChannel } from './connection.ts';
import { CtapCardChannel } from './ctap-card.ts';
import { getAssertion, getInfo, makeCredential, NO_CREDENTIAL, needsVerification, SIGNS_WITH_PIN } from './ctap2.ts';
import { CtapHidChannel } from './ctaphid.ts';
import { allowCtap, type CtapGate } from './gate.ts';
import type { KeyView, Opener } from './key-view.ts';
import { recognizeOver } from './lookup.ts';
import { agreeScp11b } from './scp11b.ts';
import { registerU2f, signU2f } from './u2f.ts';

/** Milliseconds for a whole proof. */
export const PROOF_LIMIT = 30_000;
/** Milliseconds in which the smart card interface of a key that was just plugged in appears, and the pause between two attempts. */
const CARD_APPEARS = 3_000;
const CARD_PAUSE = 50;
/** The first firmware of a YubiKey with a certificate for its key of SCP11b. */
const SCP11B_SINCE = [5, 7, 4] as const;

/** Facts about the key for a proof. */
export interface ProvableKey {
  readonly view: KeyView;
  readonly firmwareVersion: string | null;
  /** Called before the command that counts as an attempt of SCP11b; throws if there was one since the key was plugged in. */
  readonly beforeScp11b: () => void;
}

/** Fails with a HardwareError; see Driver.prove. */
export async function proveKey(key: ProvableKey, request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
  const signal = deadline(work.signal, PROOF_LIMIT);
  let touched = false;
  const onTouch = (): void => {
    if (!touched) work.onTouch();
    touched = true;
  };
  try {
    return await proveWith(key, request, { signal, onTouch });
  } catch (error) {
    if (touched && error instanceof HardwareError && error.code === 'timeout') throw notTouched(error);
    throw error;
  }
}

const notTouched = (cause: HardwareError): HardwareError =>
  new HardwareError('timeout', 'the key was not touched within 30 seconds: start again and touch it when it blinks', {
    cause,
  });

async function proveWith(key: ProvableKey, request: ProofRequest, work: ProofWork): Promise<KeyEvidence> {
  const { credentials } = request;
  if (credentials)
    return overFido(key.view, work.signal, channel => signOver(channel, { ...request, credentials }, work));
  const fido = () => overFido(key.view, work.signal, channel => register(channel, request, work));
  if (request.method === 'fido') return fido();
  const evidence = await overCard(key, request, work.signal);
  if (evidence !== null) return evidence;
  if (request.method === 'scp11b') throw new HardwareError('unavailable', NO_SCP11B);
  return fido();
}

const NO_SCP11B =
  'this key cannot prove itself by SCP11b: only YubiKeys from firmware 5.7.4 with their smart card interface switched on can';

/** Null if the key does not have SCP11b. */
async function overCard(
  { view, firmwareVersion, beforeScp11b }: ProvableKey,
  { hostPublicKey }: ProofRequest,
  signal: AbortSignal,
): Promise<KeyEvidence | null> {
  if (view.vendorId !== VENDOR.YUBICO || view.openCard === null || !isSince(firmwareVersion)) return null;
  const card = await appearing(view.openCard, signal);
  if (card === null) return null;
  try {
    return await agreeScp11b(card, hostPublicKey, signal, beforeScp11b);
  } finally {
    await card.close();
  }
}

function isSince(firmwareVersion: string | null): boolean {
  const parts = (firmwareVersion ?? '').split('.').map(Number);
  for (const [index, least] of SCP11B_SINCE.entries()) {
    const part = parts[index] ?? Number.NaN;
    if (part !== least) return part > least;
  }
  return true;
}

/** The smart card interface appears later than the others. Null if it does not appear. */
async function appearing(
  open: Opener<CardConnection>,
  signal: AbortSignal,
): Promise<(CardConnection & Closable) | null> {
  const until = performance.now() + CARD_APPEARS;
  for (;;) {
    try {
      return await open(signal);
    } catch (error) {
      if (!(error instanceof HardwareError) || error.code !== 'unavailable') throw error;
      if (performance.now() > until) return null;
    }
    await pause(CARD_PAUSE, signal);
  }
}

/**
 * Opens FIDO of the key for the time of the task: its HID interface, or the application of its smart card. Rejects with `missing` if it has
 * neither.
 */
export async function overFido<T>(
  view: KeyView,
  signal: AbortSignal,
  task: (channel: CtapChannel) => Promise<T>,
  { missing = NO_FIDO, allow = allowCtap }: { readonly missing?: string; readonly allow?: CtapGate } = {},
): Promise<T> {
  const { openFido, openCard } = view;
  if (openFido !== null)
    return opened(openFido, signal, async hid => task(await CtapHidChannel.open(hid, signal, { allow })));
  if (openCard === null) throw new HardwareError('unavailable', missing);
  return opened(openCard, signal, async card => {
    const channel = await CtapCardChannel.open(card, signal, allow);
    if (channel === null) throw new HardwareError('unavailable', missing);
    return task(channel);
  });
}

async function opened<C, T>(open: Opener<C>, signal: AbortSignal, task: (connection: C) => Promise<T>): Promise<T> {
  const connection = await open(signal);
  try {
    return await task(connection);
  } finally {
    await connection.close();
  }
}

/** Milliseconds for a recognition: a key is asked for hundreds of credentials. */
export const RECOGNITION_LIMIT = 30_000;

/** Implements `Driver.recognize`. */
export function recognizeKey(
  view: KeyView,
  question: AssertionRequest,
  abort: AbortSignal,
): Promise<RecognizedKey | null> {
  const signal = deadline(abort, RECOGNITION_LIMIT);
  return overFido(view, signal, channel => recognizeOver(channel, question, signal));
}

async function register(
  channel: CtapChannel,
  request: ProofRequest,
  { signal, onTouch }: ProofWork,
): Promise<KeyEvidence> {
  const info = await getInfo(channel, signal);
  if (info !== null && !needsVerification(info)) {
    const enterprise = info.options.get('ep') === true;
    const attestationObject = await makeCredential(channel, { ...request, enterprise }, signal, onTouch);
    if (attestationObject !== null) return { method: 'fido', attestationObject };
  }
  const mayU2f = info === null || info.versions.includes('U2F_V2');
  const registration = mayU2f ? await registerU2f(channel, request, signal, onTouch) : null;
  if (registration !== null) return { method: 'u2f', registration };
  throw new HardwareError('unavailable', info === null ? NO_FIDO : NEEDS_PIN);
}

/** A credential of U2F signs over CTAP2 too, if the key has it (CTAP 2.1, 10.3). */
async function signOver(
  channel: CtapChannel,
  request: AssertionRequest,
  { signal, onTouch }: ProofWork,
): Promise<KeyEvidence> {
  const info = await getInfo(channel, signal);
  if (info?.options.get('alwaysUv') === true) throw new HardwareError('unavailable', SIGNS_WITH_PIN);
  if (info !== null) return { method: 'assertion', ...(await getAssertion(channel, request, { signal, onTouch })) };
  const signed = await signU2f(channel, request, signal, onTouch);
  if (signed === null) throw new HardwareError('unavailable', NO_CREDENTIAL);
  return { method: 'assertion', ...signed };
}

const NO_FIDO = 'this key has neither FIDO nor SCP11b: it cannot prove what it is';
const NEEDS_PIN =
  'this key requires a PIN for every registration, and devmgr does not ask for the PIN: it can make no credential, and cannot prove what it is';
/** Why a second attempt of SCP11b is refused. */
export const ALREADY_TRIED =
  'this key has already answered by SCP11b since it was plugged in, and too many attempts block it: unplug it and plug it in again';

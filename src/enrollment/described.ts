/** A key that describes itself: by its claims, the registry selects the credentials that it may have. */
import type { Key } from '../contract/hardware.ts';
import { claimedIn } from './same-device.ts';
import type { Poll } from './send.ts';

/** Milliseconds between two looks at the claims of a key, and in all: a key without a serial number is asked at once. */
export const soonDescribed = { everyMs: 50, forMs: 1_500 } as const;
/** For a key of CTAP2, which has claims, however busy the station is. */
export const surelyDescribed = { everyMs: 250, forMs: 15_000 } as const;

/** Whether the key has claimed something. A key of U2F alone claims nothing, and nor does one that has not been read yet. */
export const speaksCtap2 = ({ claims }: Key): boolean => Object.keys(claims ?? {}).length > 0;

/** The key with its claims; as it is if there are none in time. */
export async function withClaims(
  key: Key,
  list: () => Promise<readonly Key[]>,
  poll: Poll,
  bounds: Parameters<Poll>[1],
): Promise<Key> {
  if (speaksCtap2(key)) return key;
  return (await poll(async () => claimedIn(await list(), key), bounds)) ?? key;
}

/** Facts that select the credentials that a key may have. */
export const shownBy = (key: Key) => ({
  protocol: speaksCtap2(key) ? ('CTAP2' as const) : ('U2F' as const),
  aaguid: key.claims?.aaguid ?? null,
  firmware: key.claims?.firmware ?? key.firmwareVersion,
});

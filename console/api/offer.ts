/**
 * Sessions that an address offers. `devmgr open` makes such addresses, and so can anyone who has an account: the person decides whether the
 * account is the right one, before the tab has its session.
 */
import { signal } from '@preact/signals';
import { codeIn, go } from '../router.ts';
import { call } from './request.ts';
import { changePerson, endSession, resumeSession, type SignIn, session, useSession } from './session.ts';

/** What the person is asked about. */
export interface Offer {
  /** Another one for each offer. */
  readonly number: number;
  /** The session, in memory only until it is accepted; null if its code was used before or is too old. */
  readonly given: SignIn | null;
}

/** The newest offer that the person has not answered. */
export const offer = signal<Offer | null>(null);

let last = 0;

/** Continues the session of this tab, and asks about the one in the address, now and whenever a link puts another one there. */
export async function startSession(): Promise<void> {
  resumeSession();
  addEventListener('hashchange', () => void takeOffer());
  await takeOffer();
  // Behind a question, a tab without a session stays empty.
  if (!offer.peek()) showSignIn();
}

/** Begins the session that is offered. */
export function acceptOffer({ given }: Offer): void {
  offer.value = null;
  if (!given) return;
  if (session.peek()) changePerson(given);
  else useSession(given);
}

/** Forgets the session that is offered: its token was nowhere but here. The session of this tab goes on. */
export function refuseOffer(): void {
  offer.value = null;
  showSignIn();
}

function showSignIn(): void {
  if (session.peek() === undefined) session.value = null;
}

async function takeOffer(): Promise<void> {
  const code = takeCode();
  if (code === null) return;
  const given = await exchange(code);
  const present = session.peek();
  if (!given && !present) return endSession('code');
  // The same account: the tab has another token of it, and shows the same.
  if (given && given.user.id === present?.user.id) return useSession(given);
  offer.value = { number: ++last, given };
}

/** The code in the address, which is cleared at once: neither the history nor a bookmark gets it. */
function takeCode(): string | null {
  const { code, page } = codeIn(location.hash);
  if (code !== null) go(`#/${page}`, true);
  return code;
}

/** At once, because the code is valid for 30 s and a person may read for longer. */
async function exchange(code: string): Promise<SignIn | null> {
  try {
    return await call('exchangeCode', { body: { code } });
  } catch {
    return null;
  }
}

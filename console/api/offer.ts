/**
 * Sessions that an address offers. `devmgr open` makes such addresses, and so can anyone who has an account: the person decides whether the
 * account is the right one, before the tab has its session.
 */
import { effect, signal } from '@preact/signals';
import { Code } from '../../src/contract/codes.ts';
import { codeIn, forgetEntries, go } from '../router.ts';
import { type Problem, problemOf } from './problem.ts';
import { call } from './request.ts';
import { changePerson, endSession, resumeSession, type SignIn, session, useSession } from './session.ts';
import { placeAfter } from './sso.ts';
import { joinTabs } from './tabs.ts';

/** Question to the person. */
export interface SessionOffer {
  /** Another one for each offer. */
  readonly number: number;
  /** The session, in memory only until it is accepted; null if the code gave none. */
  readonly given: SignIn | null;
  /** Why the code gave no session; null if it was used before or is too old. */
  readonly problem: Problem | null;
}

interface CodeTaken {
  readonly code: string;
  /** Whether it belongs to a sign-in at the provider that this tab has begun. */
  readonly isOwn: boolean;
}

/** The newest offer that the person has not answered. */
export const offer = signal<SessionOffer | null>(null);

/** The code of the sign-in of a terminal that the person is asked about; null if there is none. */
export const signingIn = signal<string | null>(null);

/** The number of the newest code or answer: what an earlier code gives is ignored. */
let last = 0;

/** Continues the session of this tab, and asks about the one in the address, now and whenever a link puts another one there. */
export async function startSession(): Promise<void> {
  resumeSession();
  let had = session.peek();
  effect(() => {
    if (had && !session.value) forgetEntries();
    had = session.value;
  });
  addEventListener('hashchange', () => {
    takeTerminal();
    const code = takeCode();
    if (code !== null) void takeOffer(code);
  });
  takeTerminal();
  const code = takeCode();
  const joined = joinTabs(code === null);
  // While a code is exchanged, and behind a question, a tab without a session stays empty.
  if (code !== null) return takeOffer(code);
  await joined;
  showSignIn();
}

/** Begins the session that is offered. */
export function acceptOffer({ given }: SessionOffer): void {
  offer.value = null;
  last++;
  if (!given) return;
  if (session.peek()) changePerson(given);
  else useSession(given);
}

/** Forgets the session that is offered: its token was nowhere but here. The session of this tab continues. */
export function refuseOffer(): void {
  offer.value = null;
  showSignIn();
}

function showSignIn(): void {
  if (session.peek() === undefined) session.value = null;
}

async function takeOffer({ code, isOwn }: CodeTaken): Promise<void> {
  const number = ++last;
  const { given, problem } = await exchange(code);
  if (number !== last) return;
  offer.value = null;
  const present = session.peek();
  // A second token of the account that is signed in changes nothing on the page.
  if (given && given.user.id === present?.user.id) useSession(given);
  // This tab has begun the sign-in at the provider, so no one else has made the address.
  else if (given && isOwn) acceptOffer({ number, given, problem });
  else if (given || problem || present) offer.value = { number, given, problem };
  else endSession('code');
}

/** A sign-in at the provider for a terminal: the tab asks about it, with or without a session of its own. */
function takeTerminal(): void {
  const { terminal } = codeIn(location.hash);
  if (terminal === null) return;
  go('#/', true);
  signingIn.value = terminal;
}

/** The code in the address, which is cleared at once: neither the history nor a bookmark gets it. */
function takeCode(): CodeTaken | null {
  const { code, page, sso } = codeIn(location.hash);
  if (code === null) return null;
  const after = placeAfter(sso);
  go(after ?? `#/${page}`, true);
  return { code, isOwn: after !== null };
}

/** At once, because the code is valid for 30 s and a person may read for longer. */
async function exchange(code: string): Promise<Omit<SessionOffer, 'number'>> {
  try {
    return { given: await call('exchangeSignInCode', { body: { code } }), problem: null };
  } catch (error) {
    const problem = problemOf(error);
    return { given: null, problem: problem?.code === Code.tokenInvalid ? null : problem };
  }
}

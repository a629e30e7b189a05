/**
 * The session of this tab. Its token is in sessionStorage: a cookie would be shared with every other port of the machine. Another
 * tab gets it from this one: tabs.ts.
 */
import { batch, computed, effect, signal } from '@preact/signals';
import type { AccountRole } from '../../src/contract/values.ts';
import { storedIn } from '../stored.ts';
import { call, type Data, serverAhead, serverNow, setOnRefusedToken, token } from './request.ts';

/** Result of a sign-in. */
export type SignIn = Data<'login'>;

const STORED = 'devmgr.session';

/** The session; null before a sign-in, undefined while the page starts. */
export const session = signal<SignIn | null | undefined>(undefined);
/** Why the page is without a session. */
type EndReason =
  /** The daemon no longer accepts the token. */
  | 'expired'
  /** The key that the person must have is registered, and signs in from now on. */
  | 'registered'
  /** The code of `devmgr open` was used before, or is too old. */
  | 'code';
/** Why the page is without a session; null before the first one, and after a sign-out. */
export const ended = signal<EndReason | null>(null);
/** The role of the person; VIEWER without a session. */
const role = computed<AccountRole>(() => session.value?.user.role ?? 'VIEWER');
/** Whether the person may change devices. */
export const mayChange = computed(() => role.value === 'ADMIN' || role.value === 'DEALER');
/** Whether the person sees own keys, and nothing else. */
export const isHolder = computed(() => role.value === 'HOLDER');
/** Whether the token can only register a security key, which the person must have. */
export const mayOnlyRegisterKey = computed(() => session.value?.mustRegisterKey === true);
/** Whether the person is an administrator. */
export const isAdmin = computed(() => role.value === 'ADMIN');

let renewal: ReturnType<typeof setTimeout> | undefined;

/** Continues the session of this tab, if it has one. */
export function resumeSession(): void {
  setOnRefusedToken(() => endSession('expired'));
  // Whether it has expired, the daemon decides: the clock of the browser may be wrong.
  const stored = storedIn<SignIn>('sessionStorage', STORED);
  if (stored) useSession(stored);
}

/** Gives the tab the session of another person. The page is loaded again, so that nothing of this person stays in its memory. */
export function changePerson(given: SignIn): void {
  // No renewal stores the former session again, and no page is left that can stop the reload.
  clearTimeout(renewal);
  token.value = null;
  session.value = undefined;
  store(given);
  setTimeout(() => location.reload());
}

const store = (given: SignIn) => sessionStorage.setItem(STORED, JSON.stringify(given));

/** Begins a session after a sign-in, or replaces its token. */
export function useSession(given: SignIn): void {
  store(given);
  // At once: what a token opens depends on the role.
  batch(() => {
    token.value = given.token;
    ended.value = null;
    session.value = given;
  });
  renewLater(given);
}

/** Ends the session in this tab. Other sessions of the person continue. */
export function endSession(why: EndReason | null = null): void {
  clearTimeout(renewal);
  sessionStorage.removeItem(STORED);
  token.value = null;
  ended.value = why;
  session.value = null;
}

/** Gets a new token when half of the time of this one is over. */
function renewLater(given: SignIn): void {
  clearTimeout(renewal);
  // The token of a HOLDER is not renewed: the person signs in at the provider again.
  if (given.user.role === 'HOLDER') return;
  const half = (Date.parse(given.expireTime) - serverNow()) / 2;
  renewal = setTimeout(renew, Math.min(Math.max(half, 1000), 2 ** 31 - 1), given);
}

// Before the first response, the time of the renewal is a guess.
effect(() => {
  serverAhead.value;
  const present = session.peek();
  if (present) renewLater(present);
});

async function renew(given: SignIn): Promise<void> {
  try {
    replaceToken(given, await call('refreshToken', {}));
  } catch {
    // The daemon may be away: there is time for further attempts.
    if (session.peek() === given) renewLater(given);
  }
}

/** Gives the session another token, unless it has ended or was replaced while that was on its way. Returns whether it was given. */
export function replaceToken(given: SignIn, renewed: Pick<SignIn, 'token' | 'expireTime'>): boolean {
  if (session.peek() !== given) return false;
  useSession({ ...given, ...renewed });
  return true;
}

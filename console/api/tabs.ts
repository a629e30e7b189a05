/**
 * One session for the tabs of a browser: a new tab gets that of another one, and a sign-out ends all of the person. Messages reach
 * pages of this origin alone, its port included, and pages of this origin are the console.
 */
import { ended, endSession, type SignIn, session, useSession } from './session.ts';

/** `ask`: a tab without a session, by a number of its own. `given`: an answer to it. `signedOut`: the id of the user. */
type TabMessage =
  | { readonly ask: number }
  | { readonly to: number; readonly given: SignIn }
  | { readonly signedOut: string };

/** Milliseconds that a tab without a session waits before it shows the sign-in. A later answer is still taken. */
const ANSWER_MS = 100;

let channel: BroadcastChannel | undefined;

/** Answers the other tabs from now on. If `asks`, a tab without a session asks for one; resolves when it has it or the wait ends. */
export async function joinTabs(asks: boolean): Promise<void> {
  const opened = new BroadcastChannel('devmgr.session');
  channel = opened;
  const own = Math.random();
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  opened.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    const present = session.peek();
    if ('ask' in data) {
      if (present && !present.mustRegisterKey) opened.postMessage({ to: data.ask, given: present });
    } else if ('signedOut' in data) {
      if (present?.user.id === data.signedOut) endSession();
    } else if (data.to === own && !present && ended.peek() === null) {
      useSession(data.given);
      resolve();
    }
  };
  if (!asks || session.peek()) return;
  opened.postMessage({ ask: own });
  setTimeout(resolve, ANSWER_MS);
  await answered;
}

/** Ends the session of the person in this tab and in the others. */
export function signOut(): void {
  const present = session.peek();
  if (present) channel?.postMessage({ signedOut: present.user.id });
  endSession();
}

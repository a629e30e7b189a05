/** The sign-in that a waiting request needs: with the password or a security key. */
import type { BodyOf } from '../../src/contract/define.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { answerOf } from '../api/keys.ts';
import { call } from '../api/request.ts';
import { replaceToken, session } from '../api/session.ts';
import { answerStepUp } from '../api/step-up.ts';

/** Signs in again with the password. Throws `Problem`. */
export const stepUpWithPassword = (password: string): Promise<void> => stepUp({ password });

/** Signs in again with a security key. Throws `Problem`. */
export async function stepUpWithKey(): Promise<void> {
  const { options } = await call('getStepUpOptions', {});
  return stepUp({ response: await answerOf(options) });
}

async function stepUp(body: BodyOf<Routes['stepUp']>): Promise<void> {
  const given = session.peek();
  const renewed = await call('stepUp', { body });
  answerStepUp(given ? replaceToken(given, renewed) : false);
}

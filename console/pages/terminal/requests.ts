/** What the page that signs in a terminal reads. */
import type { DataOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { call } from '../../api/request.ts';

/** A terminal that waits for an approval. */
export type WaitingTerminal = DataOf<Routes['showTerminalLogin']>;

/** The terminal that waits with a code. Throws `Problem`: 404 if none does. */
export const requestOf = (userCode: string): Promise<WaitingTerminal> =>
  call('showTerminalLogin', { body: { userCode } });

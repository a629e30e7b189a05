/** The tables of sessions that came from the provider. */

import { StoreTable } from '../store/table.ts';
import type { SsoSessionsRow } from './records.ts';

/** The sessions of users that came from the provider of single sign-on. */
export const ssoSessions = new StoreTable<SsoSessionsRow>('sso_session', {
  number: 'integer',
  version: 'integer',
  sessions: 'json',
});

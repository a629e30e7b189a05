/** Which sessions of single sign-on a change of the settings ends. */
import { expect, it } from 'vitest';
import { endingSessions, type SsoConfig, sessionId } from '../../daemon/single-sign-on/records.ts';
import { versionOfSession } from '../../daemon/store/caller.ts';

const config: SsoConfig = {
  issuer: 'https://a.example',
  name: 'A',
  clientId: 'devmgr',
  sealed: 's',
  roles: { ADMIN: ['a', 'b'], DEALER: [], VIEWER: [] },
  groupsClaim: 'groups',
  scopes: null,
  strong: { acr: [], amr: [] },
  localAccounts: { from: 'ANYWHERE', names: null },
};
const changed = (before: SsoConfig | null, after: SsoConfig | null) =>
  endingSessions(before, after, 3).map(({ entry }) => entry.detail?.changed)[0] ?? null;

it('a session of an earlier release counts as one from before the first such change', () => {
  expect(versionOfSession('c2Vzc2lvbi1vZi1hbi1lYXI')).toBe(0);
  expect(versionOfSession(sessionId(12, 'c2Vzc2lvbg'))).toBe(12);
});

it('on, off, issuer, client, claim and roles end them; their order, the secret and what is shown do not', () => {
  expect(changed(null, null)).toBeNull();
  expect(changed(config, null)).toEqual(['enabled']);
  expect(changed(null, config)).toEqual(['enabled']);
  expect(changed(config, { ...config, issuer: 'https://b.example', clientId: 'x' })).toEqual(['issuer', 'clientId']);
  expect(changed(config, { ...config, groupsClaim: 'roles' })).toEqual(['groupsClaim']);
  expect(changed(config, { ...config, roles: { ...config.roles, VIEWER: ['a'] } })).toEqual(['roles']);
  const same = { ...config, roles: { ...config.roles, ADMIN: ['b', 'a', 'b'] }, sealed: 't', name: 'B' };
  expect(changed(config, same)).toBeNull();
  expect(endingSessions(config, null, 3)[0]).toMatchObject({ name: 'sso-sessions', before: 3 });
});

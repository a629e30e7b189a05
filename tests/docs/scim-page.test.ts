/** docs/reference/scim.md states what the daemon does. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../scripts/docs/scim.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { patchOp, type ScimCall, scimClient } from '../support/scim.ts';

let daemon: TestDaemon;
let scim: ScimCall;
beforeAll(async () => {
  daemon = await startTestDaemon();
  scim = await scimClient(daemon);
});
afterAll(() => daemon?.stop());

let made = 0;
const kinds = {
  User: () => ({ userName: `page.${++made}`, emails: [{ value: `page.${made}@example.com` }] }),
  Group: () => ({ displayName: `Page ${++made}` }),
} as const;

it.each(operations)('%s %s: %s (%i)', async (method, path, _does, status) => {
  const kind = path.startsWith('/Groups') ? 'Group' : 'User';
  const isOne = path.endsWith('/{id}') && !path.startsWith('/Schemas');
  const id = isOne
    ? (await scim('POST', `/${kind}s`, kinds[kind]())).body.id
    : `urn:ietf:params:scim:schemas:core:2.0:User`;
  const change = patchOp({ op: 'replace', path: 'displayName', value: `Page ${++made}` });
  const bodies: Readonly<Record<string, object>> = { POST: kinds[kind](), PUT: kinds[kind](), PATCH: change };
  expect(await scim(method, path.replace('{id}', id), bodies[method])).toMatchObject({ status });
});

/** Service tokens end with the account of their owner, on every daemon, and another ADMIN can take them over. */
import { describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { daemonOfTests } from '../support/daemon-tests.ts';
import { data, register } from '../support/fleet.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { openStream } from '../support/stream-client.ts';

const daemon = daemonOfTests();
const lost = { status: 401, code: 1004, message: expect.stringContaining('devmgr tokens adopt') };
let admins = 0;

/** An ADMIN, and a token of that ADMIN. */
async function owner(body: object = {}) {
  const username = `owner-${++admins}`;
  const { id, token: session } = await daemon.user(username, 'ADMIN');
  const given = { name: `of-${username}`, role: 'DEALER', expiresInDays: 30, ...body };
  const made = data(await daemon.call('POST', '/api/tokens', given, { token: session }));
  const set = async (disabled: boolean) => data(await daemon.call('PUT', `/api/users/${id}`, { disabled }));
  const use = () => daemon.call('GET', '/api/devices/list', undefined, { token: made.token });
  const adopt = () => daemon.call('POST', `/api/tokens/${made.tokenId}/adopt`);
  return { id, username, session, ...made, set, use, adopt };
}
const listed = async (tokenId: string) =>
  data(await daemon.call('GET', '/api/tokens/list?size=100')).list.find(
    (item: { tokenId: string }) => item.tokenId === tokenId,
  );

describe('a service token', () => {
  it('is refused while the account of its owner is disabled, from the next request on', async () => {
    const { set, use, token, username, tokenId } = await owner();
    expect(await use()).toMatchObject({ code: 200 });
    await set(true);
    expect(await use()).toMatchObject(lost);
    expect(await use()).toMatchObject(lost);
    const device = { deviceType: 'UKEY', serialNumber: 'LATE-1', manufacturer: 'x', model: 'y' };
    expect(await daemon.call('POST', '/api/devices/register', device, { token })).toMatchObject(lost);
    expect(await listed(tokenId)).toMatchObject({ createdBy: username, owner: username, ownerLost: true });
    await set(false);
    expect(await use()).toMatchObject({ code: 200 });
  });

  it('is refused if the person of its owner has left, also if the account is enabled again, until the person is back', async () => {
    const { id, username, set, use } = await owner();
    const { personId } = data(await daemon.call('POST', '/api/people', { userName: username.toUpperCase() }));
    data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'has left' }));
    await set(true);
    expect(await use()).toMatchObject(lost);
    await set(false);
    expect(data(await daemon.call('GET', '/api/users/list?size=100')).list).toContainEqual(
      expect.objectContaining({ id, disabled: false }),
    );
    expect(await use()).toMatchObject(lost);
    data(await daemon.call('POST', `/api/people/${personId}/return`));
    expect(await use()).toMatchObject({ code: 200 });
  });

  it('has its streams closed with 4401', async () => {
    const { set, token } = await owner();
    const stream = await openStream(daemon.url, { token });
    await set(true);
    expect(await stream.closed).toMatchObject({ code: 4401 });
  });

  it('opens no stream with a code that was made before', async () => {
    const { set, token } = await owner();
    const { code } = data(await daemon.call('POST', '/api/auth/codes', { purpose: 'STREAM' }, { token }));
    await set(true);
    await expect(openStream(daemon.url, { code })).rejects.toThrow();
  });
});

describe('a token that another ADMIN takes over', () => {
  it('is accepted again, with the text that it had', async () => {
    const { set, use, adopt, tokenId, username } = await owner();
    await set(true);
    const { createdAt } = await listed(tokenId);
    expect(data(await adopt())).toMatchObject({ tokenId, owner: 'admin', createdBy: username, createdAt });
    expect(await use()).toMatchObject({ code: 200 });
    expect(data(await adopt())).toMatchObject({ owner: 'admin' });
    expect(await listed(tokenId)).toMatchObject({ owner: 'admin', ownerLost: false, createdBy: username });
  });

  it('ends with the account of that ADMIN from then on', async () => {
    const [first, second] = [await owner(), await owner()];
    const path = `/api/tokens/${first.tokenId}/adopt`;
    data(await daemon.call('POST', path, undefined, { token: second.session }));
    await first.set(true);
    expect(await first.use()).toMatchObject({ code: 200 });
    await second.set(true);
    expect(await first.use()).toMatchObject(lost);
  });

  it('is refused if it is revoked, if it is unknown, and to a service token', async () => {
    const { adopt, tokenId } = await owner();
    const { token } = await owner({ role: 'ADMIN' });
    const path = `/api/tokens/${tokenId}/adopt`;
    expect(await daemon.call('POST', path, undefined, { token })).toMatchObject({ status: 403, code: 2007 });
    data(await daemon.call('POST', `/api/tokens/${tokenId}/revoke`));
    expect(await adopt()).toMatchObject({ status: 400, code: 1001 });
    expect(await daemon.call('POST', '/api/tokens/TOK-999/adopt')).toMatchObject({ status: 404, code: 404 });
  });

  it('leaves a journal that proves its owner', async () => {
    const { adopt } = await owner();
    data(await adopt());
    await register(daemon);
    const run = { home: daemon.home, json: false, device: null, since: null, limit: null, verify: true };
    expect(await runDaemonProgram(audit, run)).toMatchObject({ code: 0 });
  });
});

/** Security keys on two daemons of one registry in PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Page } from '../support/browser.ts';
import { data } from '../support/fleet.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { SoftwareKey } from '../support/software-key.ts';
import { startTwoDaemons, type TwoDaemons } from '../support/two-daemons.ts';

needsPostgres('security keys on two daemons', () => {
  let server: PostgresServer;
  let daemons: TwoDaemons;
  let pages: readonly [Page, Page];
  beforeAll(async () => {
    server = await PostgresServer.start();
    daemons = await startTwoDaemons(server);
    // One address, as behind a load balancer.
    const one = new Page(daemons.one);
    await daemons.two.restart({ publicUrl: one.origin });
    pages = [one, new Page(daemons.two, { origin: one.origin })];
  });
  afterAll(async () => {
    await daemons?.stop();
    await server?.stop();
  });

  it('a challenge of one daemon is answered at the other, once in all', async () => {
    const [one, two] = pages;
    const key = new SoftwareKey();
    const { token } = await daemons.one.user('dora', 'DEALER');
    const { options } = data(await one.call('POST', '/api/auth/webauthn/register/options', undefined, token));
    const body = { name: 'desk', response: key.create(options, one.origin) };
    data(await two.call('POST', '/api/auth/webauthn/register', body, token));
    const answer = key.get(await one.options(), one.origin);
    const answers = await Promise.all([one.send(answer), two.send(answer), one.send(answer), two.send(answer)]);
    expect(answers.map(({ code }) => code).sort()).toEqual([1004, 1004, 1004, 200].sort());
    expect(await two.send(answer)).toMatchObject({ status: 401, code: 1004 });
  });

  it('a challenge of one daemon registers one key and signs one user in, whichever daemon gets the answers', async () => {
    const both = async (call: (page: Page, i: number) => Promise<{ code: number }>) =>
      (await Promise.all(pages.map(call))).map(({ code }) => code).sort((a, b) => a - b);
    const [one] = pages;
    const users = [await daemons.one.user('erna', 'DEALER'), await daemons.one.user('finn', 'DEALER')];
    const keys = [new SoftwareKey(), new SoftwareKey()];
    const { token } = users[0]!;
    const { options } = data(await one.call('POST', '/api/auth/webauthn/register/options', undefined, token));
    const registered = await both((page, i) => {
      const body = { name: 'desk', response: keys[i]!.create(options, one.origin) };
      return page.call('POST', '/api/auth/webauthn/register', body, token);
    });
    expect(registered).toEqual([200, 1001]);
    const owned = [new SoftwareKey(), new SoftwareKey()];
    for (const [i, { token: of }] of users.entries()) data(await one.register(owned[i]!, of));
    const asked = await one.options();
    expect(await both((page, i) => page.send(owned[i]!.get(asked, one.origin)))).toEqual([200, 1004]);
  });

  it('a policy, a removal and a new sign-in hold on both daemons at once', async () => {
    const [one, two] = pages;
    const key = new SoftwareKey();
    const { id, token } = await daemons.one.user('vera', 'VIEWER');
    const { passkeyId } = data(await one.register(key, token));
    data(await daemons.one.call('PUT', '/api/policies/sign-in', { requireKey: ['VIEWER'] }));
    const step = await two.login('vera');
    expect(step).toMatchObject({ status: 401, code: 1004 });
    const { secondFactor, loginTicket } = step.data;
    const opened = data(await one.send(key.get(secondFactor, one.origin), { loginTicket }));
    data(await two.stepUp(key, opened.token));
    data(await daemons.two.call('POST', `/api/users/${id}/passkeys/${passkeyId}/remove`));
    expect(await one.signIn(key)).toMatchObject({ status: 401, code: 1004 });
    expect(await one.login('vera')).toMatchObject({ status: 401, code: 1004, data: { allowRegistration: true } });
    data(await daemons.one.call('POST', `/api/users/${id}/allow-registration`));
    const sessions = await Promise.all(pages.map(async page => data(await page.login('vera')).token as string));
    const registered = await Promise.all(pages.map((page, i) => page.register(new SoftwareKey(), sessions[i]!)));
    expect(registered.map(({ code }) => code).sort()).toEqual([1004, 200].sort());
    expect(await two.login('vera')).toMatchObject({ data: { loginTicket: expect.any(String) } });
    data(await daemons.two.call('PUT', '/api/policies/sign-in', { requireKey: [] }));
  });
});

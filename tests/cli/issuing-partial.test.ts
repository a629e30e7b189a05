/** A key that is issued at some providers and not at others: what the command shows, and how it continues. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOkta } from '../support/issuing-providers.ts';
import { issuingBy } from './issuing.ts';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
const { plugged, provider } = issuingBy(() => daemon);
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--webhook-allow', '127.0.0.1'] });
});
afterAll(() => discard(daemon));

test('one provider of two refuses: the result has what is issued where, the PIN, the rules, and how to continue', async () => {
  const [company, okta] = [await provider('company-21'), await provider('okta-21', startOkta)];
  const { authenticator, issue, deviceId } = await plugged('ISSUE-21');
  company.trouble('options', 'refused');
  const rules = ['--change-pin', '--min-pin', '6'];
  const partly = await issue('company-21,okta-21', '481516', ...rules);
  expect(partly.code).toBe(7);
  expect(partly.stdout).toContain('ISSUE-21 is not issued everywhere');
  expect(partly.stdout).toMatch(/company-21: +missing: .*not allowed/);
  expect(partly.stdout).toMatch(/okta-21: +issued/);
  expect(partly.stdout).toMatch(/PIN: +the PIN is set/);
  expect(partly.stdout).toMatch(/rules: +--change-pin and --min-pin 6 not applied/);
  expect(partly.stderr).toContain(
    `Next: devmgr keys issue ${deviceId} --provider company-21,okta-21 --change-pin --min-pin 6`,
  );
  expect([company.accepted.length, okta.accepted.length, authenticator.forcesPinChange]).toEqual([0, 1, false]);
  company.trouble('options', 'refused');
  const again = await issue('company-21,okta-21', '481516', ...rules, '--json');
  expect(again.code).toBe(7);
  expect(JSON.parse(again.stdout)).toMatchObject({
    deviceId,
    serialNumber: 'ISSUE-21',
    credentials: [{ pending: false }],
    missing: [{ name: 'company-21', reason: expect.stringContaining('not allowed') }],
    pin: 'present',
    rulesApplied: false,
  });
  expect(await issue('company-21,okta-21', '481516', ...rules)).toMatchObject({ code: 0 });
  expect([authenticator.forcesPinChange, authenticator.minPinLength]).toEqual([true, 6]);
});

test('the only provider refuses: the error comes with the PIN and the rules that are not applied', async () => {
  const company = await provider('company-22');
  const { issue } = await plugged('ISSUE-22');
  company.trouble('options', 'refused');
  expect(await issue('company-22', '481516', '--change-pin')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/the PIN is set.*--change-pin not applied.*not allowed/s),
  });
});

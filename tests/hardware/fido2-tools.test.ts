/**
 * Debian's fido2-tools judge what devmgr has done to a key, and the authenticator of the tests: what they do not accept, a browser would
 * not either. They read the key as they read any other.
 */
import { createHash, createPublicKey, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { credentialOf } from '../../daemon/proofs/judge/credential.ts';
import type { IssuedKey, StoredCredentialRequest } from '../../drivers/issued-key.ts';
import { issueKey } from '../../drivers/protocols/issue-key.ts';
import { proveKey, recognizeKey } from '../../drivers/protocols/prove-key.ts';
import { FidoKey } from '../support/fido-key.ts';
import { IssuableAuthenticator, type IssuableOptions } from '../support/issuable-authenticator.ts';
import { needs } from '../support/needs.ts';
import { fidoTool, ptyKey } from '../support/pty-key.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';

const root = authenticatorRoot();
const AAGUID = 'ee882879-721c-4913-9775-3dfcce97072a';
const PIN = '481516';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const base64 = (content: Uint8Array): string => Buffer.from(content).toString('base64');

/** A key that both programs use, one after the other. */
async function keyWith(options: Partial<IssuableOptions> = {}) {
  const authenticator = new IssuableAuthenticator({ root, aaguid: AAGUID, ...options });
  const path = await ptyKey(authenticator);
  const fido = new FidoKey({ authenticator, touched: true, issued: true });
  const openFido = async () => Object.assign(fido, { close: async () => undefined });
  const view = { vendorId: '1050', productId: '0407', descriptorSerial: null, openFido, openOtp: null, openCard: null };
  const work = { signal: new AbortController().signal, onTouch: () => undefined };
  const issue = <T>(task: (key: IssuedKey) => Promise<T>) => issueKey(view, work, task);
  const token = (args: readonly string[], ...lines: string[]) => fidoTool('fido2-token', [...args, path], ...lines);
  return { authenticator, path, view, work, issue, token };
}

const requestFor = (id: string, name: string): StoredCredentialRequest => ({
  clientDataHash: createHash('sha256').update(id).digest(),
  relyingParty: { id, name: id },
  user: { id: bytes(name), name, displayName: name },
  algorithms: [-7],
  exclude: [],
  protection: 3,
  enterprise: false,
});

needs(['fido2-token', 'fido2-assert', 'python3'], 'fido2-tools python3')('fido2-tools', () => {
  test.each([
    ['protocol two', '2, 1', {}],
    ['protocol one', '1', { protocols: [1] }],
  ] as const)(
    'with %s, the PIN that devmgr has set is that of the key, and is counted',
    async (_what, named, options) => {
      const { authenticator, issue, token } = await keyWith(options);
      const before = await token(['-I']);
      expect(before.stdout).toMatch(/^version strings: U2F_V2, FIDO_2_0, FIDO_2_1$/m);
      expect(before.stdout).toMatch(/^options: .*credMgmt, authnrCfg, noclientPin, .*setMinPINLength/m);
      expect(before.stdout).toContain(`pin protocols: ${named}\n`);
      await issue(key => key.setPin(bytes(PIN)));
      expect((await token(['-I'])).stdout).toMatch(/^options: .*authnrCfg, clientPin, /m);
      expect(await token(['-C'], '481517', '271828', '271828')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('PIN_INVALID'),
      });
      expect((await token(['-I'])).stdout).toContain('pin retries: 7\n');
      expect(await token(['-C'], PIN, '271828', '271828')).toMatchObject({ code: 0 });
      expect(authenticator.isPin('271828')).toBe(true);
      expect(await issue(key => key.pinState())).toMatchObject({ isSet: true, retries: 8 });
    },
  );

  test('a PIN that fido2-token has set opens the key for devmgr', async () => {
    const { authenticator, issue, token } = await keyWith();
    expect(await token(['-S'], PIN, PIN)).toMatchObject({ code: 0 });
    await issue(key => key.makeCredential(requestFor('login.example', 'ada'), bytes(PIN)));
    expect(authenticator.credentials).toMatchObject([{ rpId: 'login.example', userName: 'ada' }]);
  });

  test('rules that devmgr has set count, and the PIN is changed before it opens anything', async () => {
    const { issue, token } = await keyWith();
    await issue(async key => {
      await key.setPin(bytes(PIN));
      await key.setPinRules({ minLength: 8, forceChange: true }, bytes(PIN));
    });
    const { stdout } = await token(['-I']);
    expect(stdout).toContain('minpinlen: 8\n');
    expect(stdout).toContain('pin change required: true\n');
    expect(await token(['-L', '-r'], PIN)).toMatchObject({ code: 1, stderr: expect.stringContaining('PIN') });
    expect(await token(['-C'], PIN, '2718281', '2718281')).toMatchObject({ code: 1 });
    expect(await token(['-C'], PIN, '27182818', '27182818')).toMatchObject({ code: 0 });
    expect((await token(['-I'])).stdout).toContain('pin change required: false\n');
  });

  test('rules that fido2-token has set are what devmgr reads', async () => {
    const { issue, token } = await keyWith();
    await token(['-S'], PIN, PIN);
    expect(await token(['-S', '-l', '6'], PIN)).toMatchObject({ code: 0 });
    expect(await token(['-S', '-f'], PIN)).toMatchObject({ code: 0 });
    expect(await issue(key => key.pinState())).toMatchObject({ minLength: 6, mustChange: true, canKeepRules: true });
  });

  test('credentials that devmgr has made are listed, sign in with the PIN, and are gone after devmgr has removed them', async () => {
    const { authenticator, path, issue, token } = await keyWith();
    const sites = ['login.microsoft.com', 'example.okta.com'];
    await issue(async key => {
      await key.setPin(bytes(PIN));
      for (const site of sites) await key.makeCredential(requestFor(site, `ada@${site}`), bytes(PIN));
    });
    const listed = await token(['-L', '-r'], PIN);
    for (const site of sites) expect(listed.stdout).toContain(` ${site}\n`);
    expect(await token(['-I', '-c'], PIN)).toMatchObject({
      stdout: 'existing rk(s): 2\nremaining rk(s): 23\n',
    });
    for (const { id, rpId, userName, privateKey } of [...authenticator.credentials]) {
      const one = await token(['-L', '-k', rpId], PIN);
      expect(one.stdout).toContain(base64(id));
      expect(one.stdout).toContain('es256');
      expect(one.stdout).toContain(base64(bytes(userName)));
      const folder = temporaryFolder();
      const [request, file] = [join(folder, 'request'), join(folder, 'key.pem')];
      writeFileSync(request, `${[base64(randomBytes(32)), rpId, base64(id)].join('\n')}\n`);
      writeFileSync(file, createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
      const sign = (pin: string) => fidoTool('fido2-assert', ['-G', '-v', '-i', request, path], pin);
      expect(await fidoTool('fido2-assert', ['-G', '-i', request, path])).toMatchObject({ code: 1 });
      expect(await sign('481517')).toMatchObject({ code: 1, stderr: expect.stringContaining('PIN_INVALID') });
      const signed = await sign(PIN);
      expect(signed).toMatchObject({ code: 0 });
      const lines = signed.stdout.trimEnd().split('\n');
      expect(await fidoTool('fido2-assert', ['-V', '-p', '-v', file, 'es256'], ...lines)).toMatchObject({ code: 0 });
      const other = [base64(randomBytes(32)), ...lines.slice(1)];
      expect(await fidoTool('fido2-assert', ['-V', '-p', '-v', file, 'es256'], ...other)).toMatchObject({ code: 1 });
      await issue(key => key.deleteCredential(id, bytes(PIN)));
      expect((await token(['-L', '-r'], PIN)).stdout).not.toContain(rpId);
    }
  });

  test('the credential by which a registry recognizes a key signs with and without a touch, needs no PIN, is not listed, and is erased by a reset', async () => {
    const { path, view, work, issue, token } = await keyWith();
    const party = `${'0'.repeat(31)}1.devmgr.invalid`;
    const clientDataHash = new Uint8Array(32);
    const made = await proveKey(
      { view, firmwareVersion: null, beforeScp11b: () => undefined },
      { method: 'fido', hostPublicKey: new Uint8Array(), clientDataHash, relyingParty: party },
      work,
    );
    if (made.method !== 'fido') throw new Error('no credential');
    const attestationObject = Buffer.from(made.attestationObject).toString('base64url');
    const { id, publicKey } = credentialOf({ method: 'fido', attestationObject })!;
    await issue(key => key.setPin(bytes(PIN)));
    const question = { relyingParty: party, clientDataHash, credentials: [Buffer.from(id, 'base64url')] };
    const found = async () => (await recognizeKey(view, question, work.signal)) !== null;
    expect(await found()).toBe(true);
    const folder = temporaryFolder();
    const [request, file] = [join(folder, 'request'), join(folder, 'key.pem')];
    const asked = (site: string) => [base64(randomBytes(32)), site, base64(question.credentials[0]!)].join('\n');
    writeFileSync(request, `${asked(party)}\n`);
    writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }));
    for (const touched of ['true', 'false']) {
      const signed = await fidoTool('fido2-assert', ['-G', '-t', `up=${touched}`, '-i', request, path]);
      expect(signed).toMatchObject({ code: 0, stderr: '' });
      const verify = ['-V', ...(touched === 'true' ? ['-p'] : []), file, 'es256'];
      const lines = signed.stdout.trimEnd().split('\n');
      expect(await fidoTool('fido2-assert', verify, ...lines)).toMatchObject({ code: 0 });
    }
    expect((await token(['-L', '-r'], PIN)).stdout).not.toContain('devmgr');
    writeFileSync(request, `${asked(`${'0'.repeat(31)}2.devmgr.invalid`)}\n`);
    expect(await fidoTool('fido2-assert', ['-G', '-i', request, path])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NO_CREDENTIALS'),
    });
    expect(await token(['-R'])).toMatchObject({ code: 0 });
    expect(await found()).toBe(false);
  });

  test('what fido2-token has reset has neither PIN nor credentials for devmgr', async () => {
    const { authenticator, issue, token } = await keyWith();
    await issue(async key => {
      await key.setPin(bytes(PIN));
      await key.makeCredential(requestFor('login.example', 'ada'), bytes(PIN));
    });
    expect(await token(['-R'])).toMatchObject({ code: 0 });
    expect([authenticator.hasPin, authenticator.credentials.length]).toEqual([false, 0]);
    expect(await issue(key => key.pinState())).toMatchObject({ isSet: false });
  });
});

/** Backups that only the owner of an identity or a passphrase can read. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { backup, restore } from '../../daemon/maintenance/programs.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { runDaemonProgram } from '../support/programs.ts';

let dir: string;
let home: string;
let daemon: DaemonProcess;
/** Files with an identity, another one, a passphrase, and another one. */
const secrets = { identity: '', other: '', passphrase: '', wrong: '' };
let recipient: string;
/** An empty home that has the journal-key. */
let trial: string;
let file: string;
let tests = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-encrypted-'));
  home = join(dir, 'home');
  daemon = await spawnDaemon({ home });
  for (const name of Object.keys(secrets) as (keyof typeof secrets)[]) secrets[name] = join(dir, name);
  const identity = await generateIdentity();
  recipient = await identityToRecipient(identity);
  await writeFile(secrets.identity, `# a comment\n\n${identity}\n`);
  await writeFile(secrets.other, `${await generateIdentity()}\n`);
  await writeFile(secrets.passphrase, 'a long passphrase\nsecond line\n');
  await writeFile(secrets.wrong, 'tuba of the seas\n');
});
afterAll(async () => {
  await daemon.stop();
  await rm(dir, { recursive: true, force: true });
});

beforeEach(async () => {
  const folder = join(dir, `test-${++tests}`);
  trial = join(folder, 'home');
  file = join(folder, 'backup.age');
  await mkdir(trial, { recursive: true, mode: 0o700 });
  await copyFile(join(home, 'journal-key'), join(trial, 'journal-key'));
});

type Encryption = { readonly encryptTo?: readonly string[]; readonly passphraseFile?: string };
type Unlocking = {
  readonly identityFile?: string;
  readonly passphraseFile?: string;
  readonly acceptUnverified?: boolean;
};
const backUp = (how: Encryption) => runDaemonProgram(backup, { home, json: true, file, ...how });
const restoreWith = (how: Unlocking) => runDaemonProgram(restore, { home: trial, json: true, file, ...how });
const isUnchanged = async () => expect((await readdir(trial)).sort()).toEqual(['daemon.lock', 'journal-key']);

describe('an encrypted backup', () => {
  it('is restored with the identity of any of its recipients, and contains nothing readable', async () => {
    const second = await identityToRecipient((await readFile(secrets.other, 'utf8')).trim());
    expect(await backUp({ encryptTo: [recipient, second] })).toMatchObject({ code: 0 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const content = await readFile(file, 'latin1');
    expect(content.startsWith('age-encryption.org/v1\n')).toBe(true);
    expect(content).not.toMatch(/SQLite format|devmgr-backup/);
    for (const identityFile of [secrets.identity, secrets.other]) {
      const { code, stdout } = await restoreWith({ identityFile });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ devices: 0, verified: true });
    }
    expect((await readdir(home)).filter(name => name.includes('.new'))).toEqual([]);
    await (await spawnDaemon({ home: trial })).stop();
  });

  it('is not disturbed by another one of the same registry', async () => {
    const second = `${file}.second`;
    const encryptTo = [recipient];
    const both = [file, second].map(to => runDaemonProgram(backup, { home, json: true, file: to, encryptTo }));
    expect((await Promise.all(both)).map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    for (const made of [file, second])
      expect(
        await runDaemonProgram(restore, { home: trial, json: true, file: made, identityFile: secrets.identity }),
      ).toMatchObject({ code: 0, stdout: expect.stringContaining('"verified":true') });
  });

  it('is restored with its passphrase, which is the first line of a file', async () => {
    expect(await backUp({ passphraseFile: secrets.passphrase })).toMatchObject({ code: 0 });
    const wrong = await restoreWith({ passphraseFile: secrets.wrong });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/passphrase in .*wrong does not open it/) });
    expect(wrong.stderr).not.toContain('tuba');
    await isUnchanged();
    expect(await restoreWith({ passphraseFile: secrets.passphrase })).toMatchObject({ code: 0 });
  });

  it('names what it needs', async () => {
    await backUp({ encryptTo: [recipient] });
    expect(await restoreWith({})).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is encrypted.*--identity-file/),
    });
    expect(await restoreWith({ identityFile: secrets.other })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/identity in .*other does not open it/),
    });
    await isUnchanged();
  });

  it.each([
    ['shorter', async () => truncate(file, (await stat(file)).size - 70_000)],
    ['without its last byte', async () => truncate(file, (await stat(file)).size - 1)],
    [
      'changed in the middle',
      async () => {
        const bytes = await readFile(file);
        await writeFile(file, bytes.fill(bytes[9000]! ^ 1, 9000, 9001));
      },
    ],
  ])('is refused if it is %s', async (_, change) => {
    await backUp({ encryptTo: [recipient] });
    await change();
    expect(await restoreWith({ identityFile: secrets.identity, acceptUnverified: true })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is damaged: it was changed or truncated/),
    });
    await isUnchanged();
  });

  it('that someone else encrypted to the recipient is not verified', async () => {
    const plain = join(dir, `plain-${tests}`);
    expect(await runDaemonProgram(backup, { home, json: true, file: plain })).toMatchObject({ code: 0 });
    const bytes = await readFile(plain);
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    await writeFile(file, await encrypter.encrypt(bytes.fill(bytes[5000]! ^ 1, 5000, 5001)));
    expect(await restoreWith({ identityFile: secrets.identity })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not verified: its database does not match its manifest/),
    });
    await isUnchanged();
  });

  it('whose header never ends is refused before it is read', async () => {
    await writeFile(file, `age-encryption.org/v1\n-> ${'x'.repeat(1_000_000)}`);
    expect(await restoreWith({ identityFile: secrets.identity })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no complete age header/),
    });
  });
});

describe('a backup is refused', () => {
  it('with a recipient that is not one; an identity is never shown', async () => {
    expect(await backUp({ encryptTo: ['ssh-ed25519 AAAA'] })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/ssh-ed25519 AAAA.* is not an age recipient/),
    });
    const identity = (await readFile(secrets.other, 'utf8')).trim();
    const { code, stderr } = await backUp({ encryptTo: [identity] });
    expect(code).toBe(2);
    expect(stderr).toMatch(/is a secret identity/);
    expect(stderr).not.toContain(identity);
    expect(existsSync(file)).toBe(false);
  });

  it('with an empty passphrase, or if the file exists', async () => {
    await writeFile(join(dir, 'empty'), '\n');
    expect(await backUp({ passphraseFile: join(dir, 'empty') })).toMatchObject({ code: 2 });
    await writeFile(file, 'precious');
    expect(await backUp({ encryptTo: [recipient] })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already exists'),
    });
    expect(await readFile(file, 'utf8')).toBe('precious');
  });
});

it('a backup that is not encrypted is not restored with an identity', async () => {
  expect(await backUp({})).toMatchObject({ code: 0 });
  expect(await restoreWith({ identityFile: secrets.identity })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is not encrypted/),
  });
  await isUnchanged();
});

/** Rows that the journal does not explain: what someone can do who can write the database but does not have the key. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as users from '../../daemon/accounts/user.ts';
import * as devices from '../../daemon/devices/decisions.ts';
import { beginCredential, issued } from '../../daemon/issuing/credential.ts';
import { accept } from '../../daemon/requests/context.ts';
import type { Change } from '../../daemon/store/commit.ts';
import { replace } from '../../daemon/store/document.ts';
import type { TagChanges, Tags } from '../../src/contract/tags.ts';
import { openTemporary } from '../support/sqlite.ts';
import { credentialFrauds, issueCredentials } from './store/credential-life.ts';
import { addDevice, addToken, commit } from './store/fixtures.ts';
import { answerOf } from './store/proof-rules.ts';

const at = 1_700_000_000_000;
const registration = (serialNumber: string, tags?: Tags) =>
  ({ deviceType: 'UKEY', serialNumber, manufacturer: 'F', model: 'M', ...(tags ? { tags } : {}) }) as const;

let opened: Awaited<ReturnType<typeof openTemporary>>;
const user = async (number: number) => (await opened.store.user(number))!;
const device = async (number: number) => (await opened.store.device(number))!;
const write = (...changes: readonly Change[]) => commit(opened.store, changes, { at });
const problems = async () => (await opened.verifyJournal()).problems;

beforeEach(async () => {
  opened = await openTemporary();
  await write(
    users.createFirst('admin', 'hash 1'),
    users.create({ username: 'eve', passwordHash: 'hash 2', role: 'VIEWER', email: null, disabled: false }),
    users.create({ username: 'bob', passwordHash: 'hash 3', role: 'DEALER', email: null, disabled: false }),
    devices.register(registration('S1'), 'CODE-1', at),
    devices.register(registration('S2'), 'CODE-2', at),
    devices.register(registration('S3', { lot: '7', shelf: 'b' }), 'CODE-3', at),
  );
  await write(accept(users.edit(await user(3), { disabled: true }, true)).change);
  await write(accept(users.edit(await user(3), { disabled: false }, true)).change);
  await write(users.changePassword(await user(2), 'hash 4').change, users.logOut(await user(3)).change);
  await write(users.rehash(await user(2), 'hash 5').change);
  await write(accept(devices.activate(await device(1), 'CODE-1', 'alice', at)).change);
  await write(accept(devices.lock(await device(1), 'lost', null, at)).change);
  await write(accept(devices.replaceCode(await device(2), 'CODE-9', at, 'lost')).change);
});
afterEach(() => opened.cleanup());

/** Changes the database in spite of the triggers of the journal, which are then as before: a check refuses any other schema first. */
const tamper = (sql: string) => {
  const db = new Database(opened.file);
  const triggers = db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all() as Trigger[];
  db.exec(triggers.map(({ name }) => `DROP TRIGGER ${name};`).join(''));
  db.exec(sql);
  db.exec(triggers.map(trigger => `${trigger.sql};`).join(''));
  db.close();
};
interface Trigger {
  readonly name: string;
  readonly sql: string;
}

describe('verification of the rows', () => {
  const proved = async () => {
    const answer = answerOf('P1', 'S2');
    const entry = { type: 'DEVICE_PROVED' } as const;
    const { change } = devices.prove(await device(2), answer.proof, entry);
    await write({ kind: 'proof.add', proof: answer, isRegistered: true, entry: null }, change);
    await write(replace({ name: 'trust', version: 0 }, '[]', { type: 'TRUST_IMPORTED' }));
    expect(await problems()).toEqual([]);
  };

  it.each([
    [`UPDATE device SET proof = replace(proof, 'model', 'unit') WHERE number = 2`, 'the proof of DEV-2 was changed'],
    ['UPDATE device SET proof = NULL WHERE number = 2', 'the proof of DEV-2 was changed'],
    [`UPDATE device SET proof = (SELECT proof FROM device WHERE number = 2) WHERE number = 1`, 'the proof of DEV-1'],
    [`UPDATE proof SET claims = '{}'`, 'the evidence of DEV-2 was changed'],
    [`UPDATE proof SET challenge = 'AAAA'`, 'the evidence of DEV-2 was changed'],
    ['DELETE FROM proof', 'the evidence of DEV-2 was removed'],
    [`UPDATE document SET value = '[1]'`, 'the document trust was changed'],
    ['DELETE FROM document', 'the document trust was removed'],
    [
      `INSERT INTO document (name, version, value) VALUES ('proof-policy', 1, '{}')`,
      'the document proof-policy was added',
    ],
  ])('reports proofs and trust that no entry explains: %s', async (sql, problem) => {
    await proved();
    tamper(sql);
    expect((await problems()).join()).toContain(problem);
  });

  it.each(['{', 'null', '5'])('reports the entry of a service token whose detail was changed to %s', async detail => {
    await write(addToken('line-1'));
    tamper(`UPDATE event SET detail = '${detail}' WHERE type = 'TOKEN_CREATED'`);
    expect((await problems()).join()).toMatch(/entry 15 was changed/);
  });

  it('accepts service tokens whose entries are from before permissions, while they have none', async () => {
    const token = { role: 'ADMIN', sha256: 'ab', expiresAt: 9, allowedFrom: null } as const;
    const entry = { type: 'TOKEN_CREATED', detail: { name: 'old', ...token } } as const;
    const change = { ...addToken('old', token), entry } as Change;
    await commit(opened.store, [change], { at, actor: 'admin' });
    expect(await problems()).toEqual([]);
    tamper(`UPDATE service_token SET may = '["webhooks"]'`);
    expect(await problems()).toEqual(['TOK-1 (old) was changed without an entry']);
  });

  it('accepts what the entries say', async () => {
    expect(await opened.verifyJournal()).toEqual({ entries: 14, problems: [] });
    expect((await opened.check()).problems).toEqual([]);
  });

  it.each([
    [
      'a role',
      `UPDATE user SET role = 'ADMIN' WHERE number = 2`,
      'USR-2 (eve) has the role ADMIN, the journal records VIEWER',
    ],
    ['a disabled user', 'UPDATE user SET disabled = 1 WHERE number = 3', 'USR-3 (bob) was disabled without an entry'],
    [
      'a password',
      `UPDATE user SET password_hash = 'hash 4' WHERE number = 2`,
      'the password of USR-2 (eve) was changed without an entry',
    ],
    [
      'revoked tokens',
      'UPDATE user SET token_epoch = 0 WHERE number = 3',
      'USR-3 (bob) has had its tokens revoked this often: 0, the journal records 2',
    ],
    [
      'a username',
      `UPDATE user SET username = 'x' WHERE number = 3`,
      'USR-3 (x) has the username x, the journal records bob',
    ],
    [
      'an added user',
      `INSERT INTO user (number, username, password_hash, role, disabled, created_at) VALUES (4, 'm', 'h', 'ADMIN', 0, 1)`,
      'USR-4 (m) was added without an entry',
    ],
    ['a removed user', 'DELETE FROM user WHERE number = 3', 'USR-3 was removed without an entry'],
    ['a status', `UPDATE device SET status = 'ACTIVE' WHERE number = 1`, 'DEV-1 is ACTIVE, the journal records LOCKED'],
    [
      'an owner',
      `UPDATE device SET user_id = 'mallory' WHERE number = 1`,
      'the owner of DEV-1 was changed without an entry',
    ],
    [
      'a new owner',
      `UPDATE device SET user_id = 'mallory' WHERE number = 3`,
      'the owner of DEV-3 was changed without an entry',
    ],
    ...['activation_code', 'activation_code_expires_at', 'serial_number', 'model'].map(
      column =>
        [
          `the column ${column}`,
          `UPDATE device SET ${column} = 77 WHERE number = 2`,
          'the activation code, the serial number or the model of DEV-2 was changed without an entry',
        ] as const,
    ),
    ...[
      ['a changed tag', 'UPDATE device SET tags = \'{"lot":"8","shelf":"b"}\' WHERE number = 3', 3],
      ['removed tags', 'UPDATE device SET tags = NULL WHERE number = 3', 3],
      ['added tags', 'UPDATE device SET tags = \'{"lot":"7"}\' WHERE number = 1', 1],
    ].map(
      ([what, sql, number]) =>
        [String(what), String(sql), `the tags of DEV-${number} were changed without an entry`] as const,
    ),
    ['a removed device', 'DELETE FROM device WHERE number = 2', 'DEV-2 was removed without an entry'],
    [
      'a removed last device',
      'DELETE FROM device_tag WHERE device = 3; DELETE FROM device WHERE number = 3',
      'DEV-3 was removed without an entry',
    ],
    [
      'an added device',
      `INSERT INTO device (number, device_type, serial_number, manufacturer, model, activation_code, activation_code_expires_at, created_at) VALUES (4, 'UKEY', 'C', 'F', 'm', 'x', 1, 1)`,
      'DEV-4 was added without an entry',
    ],
  ] as const)('reports %s that no entry explains', async (_what, sql, words) => {
    tamper(sql);
    expect(await problems()).toEqual([words]);
    expect((await opened.check()).problems).toContain(`journal: ${words}`);
  });

  it('follows the tags of a device through its changes', async () => {
    const edit = async (number: number, tags: TagChanges) =>
      write(accept(devices.edit(await device(number), { tags }, {}, at)).change);
    await edit(3, { lot: '8', shelf: null });
    await edit(2, { lot: '9' });
    expect((await device(3)).tags).toEqual({ lot: '8' });
    expect((await opened.check()).problems).toEqual([]);
    tamper(`UPDATE device SET tags = '{"lot":"7","shelf":"b"}' WHERE number = 3`);
    expect(await problems()).toEqual(['the tags of DEV-3 were changed without an entry']);
    tamper(`UPDATE device SET tags = '{"lot":"8"}' WHERE number = 3`);
    await edit(3, { lot: null });
    expect(await problems()).toEqual([]);
    tamper(`UPDATE device SET tags = '{"lot":"8"}' WHERE number = 3`);
    expect(await problems()).toEqual(['the tags of DEV-3 were changed without an entry']);
  });

  it.each([
    `DELETE FROM device_tag WHERE name = 'lot'`,
    `INSERT INTO device_tag (name, value, device) VALUES ('lot', '8', 3)`,
  ])('the check compares the index of tags with the devices: %s', async sql => {
    tamper(sql);
    expect(await problems()).toEqual([]);
    expect((await opened.check()).problems).toEqual(['device 3 has other tags than the index of tags']);
  });

  it.each([
    [`DELETE FROM search_text WHERE kind = 'tag'`, 'tag'],
    [`INSERT INTO search_text (kind, key, text) VALUES ('name', '1', 'eve')`, 'name'],
    [`UPDATE search_text SET text = 'lot:8' WHERE key = 'lot:7'`, 'tag'],
  ])('the check compares the texts of the search with the rows: %s', async (sql, kind) => {
    expect((await opened.check()).problems).toEqual([]);
    tamper(sql);
    expect((await opened.check()).problems).toEqual([`the search has another ${kind} than the rows`]);
  });

  it.each([
    [`UPDATE tally SET count = 2 WHERE subject = 'lot'`, 'lot 7 INACTIVE is 2, it should be 1'],
    [`DELETE FROM tally WHERE subject = 'day' AND status = 'LOCKED'`, '^day \\d+ LOCKED is 0, it should be 1'],
  ])('the check compares the tallies with the devices and the journal: %s', async (sql, problem) => {
    expect((await opened.check()).problems).toEqual([]);
    tamper(sql);
    expect((await opened.check()).problems).toEqual([expect.stringMatching(problem.replace('^', 'the tally of '))]);
  });

  it('reports a promoted user whose entry was removed with an earlier seal put back', async () => {
    const db = new Database(opened.file);
    const seal = db.prepare(`SELECT value FROM meta WHERE name = 'journal'`).pluck().get() as string;
    db.close();
    await write(accept(users.edit(await user(2), { role: 'ADMIN' }, true)).change);
    expect(await problems()).toEqual([]);
    await opened.store.close();
    tamper(`DELETE FROM event WHERE id = 15; UPDATE meta SET value = '${seal}' WHERE name = 'journal'`);
    expect(await problems()).toEqual(['USR-2 (eve) has the role ADMIN, the journal records VIEWER']);
  });

  it('shows what the entries of earlier versions do not cover, instead of a problem', async () => {
    const withoutDigests = (change: Extract<Change, { kind: 'user.add' | 'device.add' }>): Change => ({
      ...change,
      entry: {
        ...change.entry,
        detail: Object.fromEntries(
          Object.entries(change.entry.detail ?? {}).filter(([name]) => !name.endsWith('Digest')),
        ),
      },
    });
    await write(
      withoutDigests(
        users.create({ username: 'old', passwordHash: 'h', role: 'VIEWER', email: null, disabled: false }),
      ),
      withoutDigests(devices.register(registration('S4'), 'CODE-4', at)),
      withoutDigests(devices.register(registration('S5'), 'CODE-5', at)),
    );
    expect(await opened.verifyJournal()).toEqual({
      entries: 17,
      problems: [],
      notCovered: ['the password of 1 user', 'the activation codes of 2 devices'],
    });
    tamper(`UPDATE user SET role = 'ADMIN' WHERE number = 4`);
    expect(await problems()).toEqual(['USR-4 (old) has the role ADMIN, the journal records VIEWER']);
  });
});

it.each(credentialFrauds)(
  'a credential that was changed without an entry is reported: CRD-%i, %s',
  async (number, set) => {
    const fresh = await openTemporary();
    await issueCredentials(fresh.store);
    expect((await fresh.verifyJournal()).problems).toEqual([]);
    const db = new Database(fresh.file);
    db.exec(`UPDATE credential SET ${set} WHERE number = ${number}`);
    db.close();
    expect((await fresh.verifyJournal()).problems).toEqual([`CRD-${number} was changed without an entry`]);
    await fresh.cleanup();
  },
);

it('a credential of an earlier version, whose entries have no digest, is as its entries say', async () => {
  const fresh = await openTemporary();
  await commit(fresh.store, [addDevice('S-1')]);
  const fields = { device: 1, provider: 1, account: 'ada', label: 'devmgr 1', begun: null };
  const { entry, ...begun } = beginCredential(fields, null);
  const { credentialDigest: _, ...detail } = entry.detail as Record<string, unknown>;
  await commit(fresh.store, [{ ...begun, credential: { ...fields, salt: null }, entry: { ...entry, detail } }]);
  expect((await fresh.verifyJournal()).problems).toEqual([]);
  const before = (await fresh.store.credential(1))!;
  await commit(fresh.store, [issued({ ...before, credentialId: 'AAAA' }, 'R-1', 2_000)]);
  expect((await fresh.verifyJournal()).problems).toEqual([]);
  await fresh.cleanup();
});

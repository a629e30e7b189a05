import { createHmac, hash } from 'node:crypto';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { subjects } from '../../daemon/start/subjects.ts';
import { entryMac, macWith } from '../../daemon/store/chain.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import { journalKey, openTemporary } from '../support/sqlite.ts';
import { addDevice, commit, setDevice } from './store/fixtures.ts';

const otherKey = new Uint8Array(32).fill(9);

describe('the journal of the SQLite store', () => {
  let opened: Awaited<ReturnType<typeof openTemporary>>;
  beforeEach(async () => {
    opened = await openTemporary();
    await commit(
      opened.store,
      Array.from({ length: 10 }, (_, i) => addDevice(`S${i}`)),
    );
    await commit(opened.store, [setDevice(1, { note: 'n' })], { actor: null, requestId: null });
  });
  afterEach(() => opened.cleanup());

  /** Changes by a person who has the file but not the key: first remove the triggers of the table. */
  const tamper = (sql: string) => {
    const db = new Database(opened.file);
    db.exec(`DROP TRIGGER event_is_never_changed; DROP TRIGGER event_is_never_removed; ${sql}`);
    db.close();
  };
  const problems = async () => (await opened.verifyJournal()).problems;

  it('verifies across commits and restarts', async () => {
    expect(await opened.verifyJournal()).toEqual({ entries: 11, problems: [] });
    const again = await opened.reopen();
    await commit(again, [addDevice('T')]);
    expect(await opened.verifyJournal()).toEqual({ entries: 12, problems: [] });
  });

  it('cannot be changed, removed or replaced while its triggers exist', () => {
    const db = new Database(opened.file);
    db.pragma('recursive_triggers = ON');
    for (const sql of [
      `UPDATE event SET actor = 'x' WHERE id = 3`,
      'DELETE FROM event WHERE id = 3',
      'DELETE FROM event',
      `INSERT OR REPLACE INTO event SELECT id, at, type, device, subject, 'x', request_id, data, detail, mac FROM event WHERE id = 3`,
    ])
      expect(() => db.exec(sql)).toThrow(/never/);
    db.close();
  });

  for (const [column, value] of Object.entries({
    at: '1',
    type: `'DEVICE_LOCKED'`,
    device: '2',
    subject: '4',
    actor: `'mallory'`,
    request_id: 'NULL',
    data: `'{"a":1}'`,
    detail: `'{"a":1}'`,
    mac: `'${'A'.repeat(43)}='`,
  }))
    it(`reports an entry whose ${column} was changed`, async () => {
      tamper(`UPDATE event SET ${column} = ${value} WHERE id = 4`);
      expect((await problems())[0]).toMatch(/^entry 4 was changed/);
    });

  it('reports text that was moved from one field to the next', async () => {
    tamper(`UPDATE event SET actor = 'admi', request_id = 'nrequest-1' WHERE id = 5`);
    expect(await problems()).toEqual([expect.stringMatching(/^entry 5 was changed/)]);
  });

  it('reports removed entries at the beginning, in the middle and at the end', async () => {
    tamper('DELETE FROM event WHERE id IN (1, 4, 5, 11)');
    expect(await problems()).toEqual(['entry 1 was removed', 'entries 4 to 5 were removed', 'entry 11 was removed']);
  });

  it('reports entries that were swapped', async () => {
    tamper(
      'UPDATE event SET id = -1 WHERE id = 3; UPDATE event SET id = 3 WHERE id = 4; UPDATE event SET id = 4 WHERE id = -1',
    );
    expect((await problems()).slice(0, 2)).toEqual([
      expect.stringMatching(/^entry 3 was changed, inserted or moved/),
      expect.stringMatching(/^entry 4 was changed, inserted or moved/),
    ]);
  });

  it('reports an entry that was appended', async () => {
    tamper(
      `INSERT INTO event SELECT 12, at, type, device, subject, actor, request_id, data, detail, mac FROM event WHERE id = 11`,
    );
    expect(await problems()).toEqual([
      expect.stringMatching(/^entry 12 was changed, inserted/),
      'entries after 11 were inserted',
    ]);
  });

  it('reports a truncated end with a changed or removed seal', async () => {
    tamper(
      `DELETE FROM event WHERE id > 8; UPDATE meta SET value = json_set(value, '$.id', 8, '$.mac', (SELECT mac FROM event WHERE id = 8)) WHERE name = 'journal'`,
    );
    expect(await problems()).toEqual([expect.stringMatching(/^the seal .* was changed/)]);
    tamper2(`DELETE FROM meta WHERE name = 'journal'`);
    expect(await problems()).toEqual([expect.stringMatching(/^the seal .* was removed/)]);
  });

  const tamper2 = (sql: string) => {
    const db = new Database(opened.file);
    db.exec(sql);
    db.close();
  };

  it('still reports a truncation after further commits', async () => {
    await opened.store.close();
    tamper('DELETE FROM event WHERE id > 8');
    const notices: string[] = [];
    const store = await openSqliteStore({
      subjects,
      file: opened.file,
      journalKey,
      notice: text => notices.push(text),
    });
    await commit(store, [addDevice('T')]);
    expect((await opened.verifyJournal()).problems).toEqual(['entries 9 to 11 were removed']);
    expect(await store.lastEventId()).toBe(12);
    expect(notices).toEqual([expect.stringMatching(/ends at entry 8, its seal records 11/)]);
    await store.close();
  });

  it('still reports its complete removal after further commits', async () => {
    tamper(`DELETE FROM event; DELETE FROM meta WHERE name = 'journal'`);
    expect(await problems()).toEqual(['all entries and the seal were removed']);
    await opened.store.close();
    const notices: string[] = [];
    const store = await openSqliteStore({
      subjects,
      file: opened.file,
      journalKey,
      notice: text => notices.push(text),
    });
    await commit(store, [addDevice('T')]);
    expect((await opened.verifyJournal()).problems).toEqual([expect.stringMatching(/^entry 1 was changed, inserted/)]);
    expect(notices).toHaveLength(1);
    await store.close();
  });

  it('of an unused registry verifies', async () => {
    const fresh = await openTemporary();
    expect(await fresh.verifyJournal()).toEqual({ entries: 0, problems: [] });
    await fresh.cleanup();
  });

  it('still reports a forged seal after further commits', async () => {
    await opened.store.close();
    tamper(
      `DELETE FROM event WHERE id > 8; UPDATE meta SET value = json_set(value, '$.id', 8, '$.mac', (SELECT mac FROM event WHERE id = 8)) WHERE name = 'journal'`,
    );
    const notices: string[] = [];
    const store = await openSqliteStore({
      subjects,
      file: opened.file,
      journalKey,
      notice: text => notices.push(text),
    });
    await commit(store, [addDevice('T')]);
    expect((await opened.verifyJournal()).problems).toEqual([expect.stringMatching(/^entry 9 was changed, inserted/)]);
    expect(notices).toHaveLength(1);
    await store.close();
  });

  it('does not verify with another key', async () => {
    const { problems: found } = await opened.verifyJournal(otherKey);
    expect(found[0]).toMatch(/entry 1 .*journal key is a different one/);
    expect(found).toHaveLength(12);
  });

  it('verifies during commits', async () => {
    await commit(
      opened.store,
      Array.from({ length: 6000 }, (_, i) => addDevice(`T${i}`)),
    );
    const verifying = opened.verifyJournal();
    for (let i = 0; i < 20; i++) await commit(opened.store, [addDevice(`U${i}`)]);
    expect((await verifying).problems).toEqual([]);
  });
});

describe('the code of an entry', () => {
  it('is HMAC-SHA256 with the hexadecimal digest of the key', () => {
    for (const text of ['', 'a', 'ä\u{1F511}'.repeat(100)])
      expect(macWith(journalKey)(text)).toBe(
        createHmac('sha256', hash('sha256', journalKey, 'hex'))
          .update(text)
          .digest('base64'),
      );
  });

  it('distinguishes null from an empty text, and one field from the next', () => {
    const row = {
      id: 1,
      at: 2,
      type: 'T',
      device: null,
      subject: 3,
      actor: '',
      request_id: null,
      data: '{}',
      detail: '{}',
    };
    const rows = [
      row,
      { ...row, actor: null },
      { ...row, actor: null, request_id: '' },
      { ...row, device: 3, subject: null },
      { ...row, id: 12, at: 2 },
      { ...row, type: 'T{', data: '}' },
    ];
    const mac = macWith(journalKey);
    expect(new Set(rows.map(one => entryMac(mac, 'before', one))).size).toBe(rows.length);
  });
});
